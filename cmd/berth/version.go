package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version and commit are set by the linker: -ldflags "-X main.version=v1.2.3".
// A build without them is named by what the Go toolchain has recorded.
var version, commit string

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit, Go version and providers",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo() // nil without module support
			return printResult(cmd, versionText(info))
		},
	}
}

func versionText(info *debug.BuildInfo) string {
	name, revision, dirty := version, commit, ""
	if info != nil {
		name = cmp.Or(name, info.Main.Version)
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = cmp.Or(revision, s.Value)
			case s.Key == "vcs.modified" && s.Value == "true" && commit == "":
				dirty = " (modified)"
			}
		}
	}
	return fmt.Sprintf("version:    %s\ncommit:     %s\ngo:         %s\nproviders:  %s\n",
		cmp.Or(name, "unknown"), cmp.Or(revision, "unknown")+dirty, runtime.Version(), strings.Join(cloudNames(), ", "))
}
