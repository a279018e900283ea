package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/offline"
)

const checkHelp = `Check validates Services in files without a cloud and without a cluster: fields that the
API server would refuse, fields and annotations that the kind of load balancer does not
have, annotations of other clouds, and the policy if one is given. A plan also finds
what only the cloud can report, such as a subnet that does not exist.

Arguments, or -f, name files, folders including their subfolders, or - for standard
input, such as the output of "helm template". Documents without a Service are counted
and skipped; -v lists them. Without --provider each Service's annotations decide its cloud.

Every problem has a code, explained in docs/reference/problems.md, and a place in its
file. Other forms than human are for CI: sarif, junit, github (workflow commands).

Exit codes:
  0  nothing of the severity that --fail-on names
  1  a Service has a problem of that severity, or a file can not be read`

func newCheck() *cobra.Command {
	var (
		services serviceFlags
		by       offline.Checks
		provider string
		failOn   string
		served   service.Classes
		look     outputFlags
		verbose  bool
		quiet    bool
	)
	cmd := &cobra.Command{
		Use:   "check PATH...",
		Short: "Check the annotations and fields of Services in files",
		Long:  checkHelp,
		Example: "  berth check deploy/\n" +
			"  helm template ./chart | berth check --provider aws -\n" +
			"  berth check -o sarif --fail-on warning deploy/ > berth.sarif",
	}
	services.register(cmd)
	look.register(cmd, offline.Checked{}.Formats())
	set := cmd.Flags()
	set.StringVar(&provider, "provider", "", "cloud to check for: "+strings.Join(cloudNames(), ", ")+" (default: what each Service's annotations tell)")
	set.StringVar(&by.PolicyConfig, "policy-config", "", "the policy file of the controller")
	set.StringSliceVar(&by.AllowedNamespaces, "allowed-namespaces", nil, "namespaces whose Services are served, as given to the controller")
	set.StringSliceVar(&served.Names, "load-balancer-class", nil, "values of spec.loadBalancerClass that are served (default: every class of berth-lb.io)")
	set.BoolVar(&served.Default, "default-class", true, "Services without a loadBalancerClass are served, as given to the controller")
	set.StringVar(&failOn, "fail-on", offline.FailOnError, "least severity that makes the exit code 1: "+strings.Join(offline.FailOns(), ", "))
	set.BoolVarP(&verbose, "verbose", "v", false, "show Services without problems, and each document that was passed over")
	set.BoolVarP(&quiet, "quiet", "q", false, "show problems alone: no notes, and no totals")
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")
	completeFlags(cmd, map[string][]string{"provider": cloudNames(), "output": offline.Checked{}.Formats(), "fail-on": offline.FailOns()})
	cmd.RunE = func(cmd *cobra.Command, paths []string) error {
		services.input.Files = append(services.input.Files, paths...)
		err := errors.Join(look.legal(offline.Checked{}.Formats()), legalFailOn(failOn))
		if err != nil {
			return err
		}
		by.Clouds = all.List()
		if provider != "" {
			if by.Cloud, err = all.Find(provider); err != nil {
				return err
			}
		}
		by.Classes = served
		by.AnyOwnClass = !cmd.Flags().Changed("load-balancer-class")
		checked, err := offline.Check(cmd.Context(), services.from(cmd), by)
		if err != nil {
			return err
		}
		checked.Version, checked.Verbose, checked.Quiet = version, verbose, quiet
		return showChecked(cmd, checked, look, failOn)
	}
	return cmd
}

// showChecked writes notes, and the result in the format of the flags; the error has the exit
// code.
func showChecked(cmd *cobra.Command, checked offline.Checked, look outputFlags, failOn string) error {
	if checked.Verbose {
		printNotes(cmd, checked.Passed)
	}
	if !checked.Quiet {
		printNotes(cmd, checked.Notes)
	}
	text, err := checked.Render(look.format, look.options(cmd).Width)
	if err != nil {
		return err
	}
	if err := printResult(cmd, text); err != nil {
		return err
	}
	return exit(checked.ExitCode(failOn))
}

func legalFailOn(word string) error {
	if slices.Contains(offline.FailOns(), word) {
		return nil
	}
	return fmt.Errorf("--fail-on %q is not known; legal: %s", word, strings.Join(offline.FailOns(), ", "))
}
