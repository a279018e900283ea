package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// chart packs the chart as Helm does, but with the release's time in place of
// now, so that it is the same every time.
func (r Release) chart() error {
	if r.Chart == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(r.Chart, "Chart.yaml")); err != nil {
		return err
	}
	ignored, err := ignoredFolders(r.Chart)
	if err != nil {
		return err
	}
	var files []packedFile
	err = filepath.WalkDir(r.Chart, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.Chart, file)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(ignored, name+"/"):
			return filepath.SkipDir
		case entry.IsDir() || name == ".helmignore":
			return nil
		}
		body, err := os.ReadFile(file)
		if name == "Chart.yaml" {
			body = setVersion(body, r.Version)
		}
		files = append(files, packedFile{path.Join(filepath.Base(r.Chart), filepath.ToSlash(name)), body, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	return r.writeArchive(fmt.Sprintf("%s-%s.tgz", filepath.Base(r.Chart), strings.TrimPrefix(r.Version, "v")), files)
}

// packedFile is one file of an archive.
type packedFile struct {
	name string
	body []byte
	mode int64
}

// writeArchive writes a compressed archive.
func (r Release) writeArchive(name string, files []packedFile) error {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.body)), ModTime: r.Time, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.body); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.Out, name), packed.Bytes(), 0o644)
}

// setVersion writes the version into Chart.yaml.
func setVersion(body []byte, version string) []byte {
	body = regexp.MustCompile(`(?m)^version: .*$`).ReplaceAll(body, []byte("version: "+strings.TrimPrefix(version, "v")))
	return regexp.MustCompile(`(?m)^appVersion: .*$`).ReplaceAll(body, []byte("appVersion: "+version))
}

// ignoredFolders are the folders that .helmignore names; the chart has no other
// patterns.
func ignoredFolders(chart string) ([]string, error) {
	body, err := os.ReadFile(filepath.Join(chart, ".helmignore"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	var out []string
	for line := range strings.Lines(string(body)) {
		if line = strings.TrimSpace(line); strings.HasSuffix(line, "/") && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out, err
}
