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

// packages are what the servers need.
func packages() []string { return []string{"python3-keystone", "python3-neutron", "python3-octavia"} }

// missing are the packages that are not installed; known is false if this system does
// not say.
func missing(ctx context.Context) (names []string, known bool) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		return nil, false
	}
	for _, name := range packages() {
		status, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Status}", name).Output()
		if err != nil || string(status) != "install ok installed" {
			names = append(names, name)
		}
	}
	return names, true
}

// provide installs what is missing. The reason tells why there will be no servers;
// empty: there can be some.
func provide(ctx context.Context, out io.Writer) (reason string) {
	names, known := missing(ctx)
	switch {
	case !known:
		return "this system has no Debian packages"
	case len(names) > 0 && os.Geteuid() != 0:
		return "packages are missing, and only root can install them: apt-get install --no-install-recommends " + strings.Join(names, " ")
	case len(names) > 0:
		fmt.Fprintln(out, "installing", strings.Join(names, ", "))
		if err := install(ctx, names); err != nil {
			return "packages cannot be installed: " + err.Error()
		}
	}
	version, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", "python3-octavia").Output()
	if err != nil || !strings.HasPrefix(string(version), release) {
		return fmt.Sprintf("the servers fit Octavia %sx, and this system has %q", release, version)
	}
	return ""
}

// install downloads in bounded time, and then installs, which is not interrupted.
func install(ctx context.Context, names []string) error {
	bounded, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	install := append([]string{"install", "-q", "-y", "--no-install-recommends"}, names...)
	// Without new lists the old ones may do.
	listed := apt(bounded, "update", "-q")
	if err := apt(bounded, append(install, "--download-only")...); err != nil {
		return errors.Join(err, listed)
	}
	return apt(ctx, install...)
}

func apt(ctx context.Context, args ...string) error {
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
