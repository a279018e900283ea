package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/stack/plan"
)

const orphansHelp = `Orphans lists what carries the marks of this cluster in the cloud (names, tags,
descriptions of rules) and belongs to no Service of the cluster any more, as the
plan of its deletion. Without --delete it only reads.

Give it the kubeconfig, the cloud configuration and the cluster name of the
controller: with those of another cluster, everything would look like an orphan.

With --delete the plan is shown first and performed when "yes" is typed, or at
once with --yes.

Exit codes:
  0  there are none, or all of them were deleted
  1  error: the cloud or cluster can not be read, or something could not be deleted
  2  there are some, and they were not deleted`

func newOrphans() *cobra.Command {
	var (
		input           offline.Input
		target          offline.Target
		provider        string
		look            outputFlags
		remove, certain bool
	)
	cmd := &cobra.Command{
		Use:     "orphans --provider NAME",
		Short:   "List what is left in the cloud of Services that are gone",
		Long:    orphansHelp,
		Example: "  berth orphans --provider aws --cloud-config cloud.conf --kubeconfig admin.conf",
		Args:    cobra.NoArgs,
	}
	look.register(cmd, offline.Report{}.Formats())
	set := cmd.Flags()
	set.StringVar(&input.Kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: that of kubectl)")
	set.StringVar(&provider, "provider", "", "cloud to look at: "+strings.Join(names(), ", ")+" (required)")
	set.StringVar(&target.CloudConfig, "cloud-config", "", "the cloud configuration file of the controller")
	set.StringVar(&target.ClusterName, "cluster-name", "kubernetes", "name of the cluster, as given to the controller")
	set.BoolVar(&remove, "delete", false, "delete them, after the plan was shown and confirmed")
	set.BoolVar(&certain, "yes", false, "do not ask for the confirmation of --delete")
	required(cmd, "provider")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := look.legal(offline.Report{}.Formats())
		if err != nil {
			return err
		}
		if target.Cloud, err = all.Find(provider); err != nil {
			return err
		}
		target.Classes.Default = true
		found, err := offline.FindOrphans(cmd.Context(), input, target)
		if err != nil {
			return err
		}
		if err := showOrphans(cmd, found, &look); err != nil || found.Empty() {
			return err
		}
		if !remove {
			return exit(plan.ExitChanges)
		}
		if !certain && !confirmed(cmd) {
			return errors.New("not confirmed: nothing was deleted")
		}
		return found.Delete(cmd.Context(), func(line string) { cmd.PrintErrln(line) })
	}
	return cmd
}

func showOrphans(cmd *cobra.Command, found *offline.Orphans, look *outputFlags) error {
	report := found.Report()
	say(cmd, report.Notes)
	if found.Empty() && look.format == "human" {
		return show(cmd, "No orphans. Everything in the cloud that is marked as this cluster's belongs to a Service.\n")
	}
	text, err := report.Render(look.format, look.options(cmd))
	if err != nil {
		return err
	}
	return show(cmd, text)
}

// confirmed asks for the one word that means yes.
func confirmed(cmd *cobra.Command) bool {
	cmd.PrintErr("Delete all of this? Only \"yes\" is taken for yes: ")
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && answer == "" {
		cmd.PrintErrln(fmt.Sprintf("no answer: %v", err))
	}
	return strings.TrimSpace(answer) == "yes"
}
