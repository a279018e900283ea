package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Release is what to build, and where.
type Release struct {
	Module      string // folder of the module
	Programs    []Program
	Plugin      Program // one of the programs, for kubectl; empty: none
	Version     string  // as v1.2.3
	LinkerFlags string
	Chart       string // folder of the chart; empty or missing: none
	Time        time.Time
	Out         string
	Progress    io.Writer
}

// Program is one to build.
type Program struct {
	Package   string // relative to the module
	Platforms []Platform
}

// Platform is an operating system and a processor, as Go calls them.
type Platform struct{ OS, Arch string }

// homepage is where the project is hosted and its releases are published.
const homepage = "https://github.com/berth-lb/berth"

// errNoVersion means that no version was given.
var errNoVersion = errors.New("version is missing")

// Build builds all artifacts again.
func (r Release) Build(ctx context.Context) error {
	if r.Version == "" {
		return errNoVersion
	}
	if err := os.RemoveAll(r.Out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return err
	}
	for _, program := range r.Programs {
		for _, p := range program.Platforms {
			if err := r.program(ctx, p, program.Package); err != nil {
				return err
			}
		}
	}
	if err := r.chart(); err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	if err := r.plugin(); err != nil {
		return fmt.Errorf("plugin: %w", err)
	}
	return r.sums()
}

// nameProgram returns the file name of a program for a platform.
func nameProgram(pkg string, p Platform) string {
	name := fmt.Sprintf("%s-%s-%s", filepath.Base(pkg), p.OS, p.Arch)
	if p.OS == "windows" {
		name += ".exe"
	}
	return name
}

// program builds one program and its list of contents.
func (r Release) program(ctx context.Context, p Platform, pkg string) error {
	name := nameProgram(pkg, p)
	path, err := filepath.Abs(filepath.Join(r.Out, name))
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(r.Progress, "building %s\n", name) // a failed write cannot be reported
	// No paths of this machine (trimpath), no state of its checkout (buildvcs) and no build id:
	// the output depends only on the source and the toolchain.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= "+r.LinkerFlags, "-o", path, pkg)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.Module, r.Progress, r.Progress
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	list, err := r.contents(path)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(path+".cdx.json", list, 0o644)
}

// sums writes the checksums in the format of sha256sum.
func (r Release) sums() error {
	files, err := os.ReadDir(r.Out)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, f := range files {
		sum, err := sha256Of(filepath.Join(r.Out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s  %s\n", sum, f.Name())
	}
	return os.WriteFile(filepath.Join(r.Out, "SHA256SUMS"), out.Bytes(), 0o644)
}

func sha256Of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
