package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	// python is Debian's own: one of a version manager does not know the packages.
	python = "/usr/bin/python3"
	// downloadTime bounds how long packages may take to come.
	downloadTime = 3 * time.Minute
	// release is the version of Octavia that the scripts of the folder servers fit.
	release = "11."
)

// serverPackages lists the packages that the servers need.
func serverPackages() []string {
	return []string{"python3-keystone", "python3-neutron", "python3-octavia"}
}

// missingPackages lists the packages that are not installed; known is false if this
// system does not report them.
func missingPackages(ctx context.Context) (names []string, known bool) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		return nil, false
	}
	for _, name := range serverPackages() {
		status, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Status}", name).Output()
		if err != nil || string(status) != "install ok installed" {
			names = append(names, name)
		}
	}
	return names, true
}

// providePackages installs missing packages. The reason explains why the servers cannot
// run; empty if they can.
func providePackages(ctx context.Context, out io.Writer) (reason string) {
	names, known := missingPackages(ctx)
	switch {
	case !known:
		return "this system has no Debian packages"
	case len(names) > 0 && os.Geteuid() != 0:
		return "packages are missing, and only root can install them: apt-get install --no-install-recommends " + strings.Join(names, " ")
	case len(names) > 0:
		fmt.Fprintln(out, "installing", strings.Join(names, ", "))
		if err := installPackages(ctx, names); err != nil {
			return "packages cannot be installed: " + err.Error()
		}
	}
	version, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", "python3-octavia").Output()
	if err != nil || !strings.HasPrefix(string(version), release) {
		return fmt.Sprintf("the servers fit Octavia %sx, and this system has %q", release, version)
	}
	return ""
}

// installPackages downloads in bounded time, and then installs, which is not
// interrupted.
func installPackages(ctx context.Context, names []string) error {
	bounded, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	install := append([]string{"install", "-q", "-y", "--no-install-recommends"}, names...)
	// Without new lists the old ones may do.
	listed := runApt(bounded, "update", "-q")
	if err := runApt(bounded, append(install, "--download-only")...); err != nil {
		return errors.Join(err, listed)
	}
	return runApt(ctx, install...)
}

func runApt(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	body, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("not within %s", downloadTime)
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(body)), "\n")
		return fmt.Errorf("apt-get %s: %w: %s", args[0], err, lines[len(lines)-1])
	}
	return nil
}
