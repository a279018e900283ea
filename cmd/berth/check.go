package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
)

const checkHelp = `Check judges Services in files without a cloud and without a cluster: fields that the
API server would refuse, annotations, and the policy if one is given. Fields that a
load balancer cannot honour, such as mixed protocols, and what only the cloud can
tell, such as a subnet that does not exist, a plan shows.

Exit codes:
  0  no errors; there may be warnings
  1  a Service has an error, or a file can not be read`

func newCheck() *cobra.Command {
	var (
		services serviceFlags
		by       offline.Checks
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
	cmd.Flags().StringVar(&by.PolicyConfig, "policy-config", "", "the policy file of the controller")
	cmd.Flags().StringSliceVar(&by.AllowedNamespaces, "allowed-namespaces", nil, "namespaces whose Services are served, as given to the controller")
	required(cmd, "provider", "file")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := look.legal(offline.Checked{}.Formats())
		if err != nil {
			return err
		}
		if by.Cloud, err = all.Find(provider); err != nil {
			return err
		}
		by.Classes = services.served(by.Cloud)
		checked, err := offline.Check(cmd.Context(), services.from(cmd), by)
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
