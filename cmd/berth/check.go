package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
)

const checkHelp = `Check judges the fields and annotations of Services in files, without a cloud and
without a cluster. What only the cloud can tell, such as a subnet that does not
exist, a plan shows.

Exit codes:
  0  no errors; there may be warnings
  1  a Service has an error, or a file can not be read`

func newCheck() *cobra.Command {
	var (
		services serviceFlags
		provider string
		look     outputFlags
	)
	cmd := &cobra.Command{
		Use:     "check --provider NAME -f FILE",
		Short:   "Check the annotations and fields of Services in files",
		Long:    checkHelp,
		Example: "  berth check -f service.yaml --provider aws",
		Args:    cobra.NoArgs,
	}
	services.register(cmd)
	look.register(cmd, offline.Checked{}.Formats())
	cmd.Flags().StringVar(&provider, "provider", "", "cloud to check for: "+strings.Join(names(), ", ")+" (required)")
	required(cmd, "provider", "file")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := look.legal(offline.Checked{}.Formats()); err != nil {
			return err
		}
		cloud, err := all.Find(provider)
		if err != nil {
			return err
		}
		checked, err := offline.Check(cmd.Context(), services.from(cmd), cloud, services.served(cloud))
		if err != nil {
			return err
		}
		say(cmd, checked.Notes)
		text, err := checked.Render(look.format, look.options(cmd).Width)
		if err != nil {
			return err
		}
		if err := show(cmd, text); err != nil {
			return err
		}
		return exit(checked.ExitCode())
	}
	return cmd
}
