package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/settings"
)

const orphansHelp = `Orphans lists resources in the cloud that carry the marks of this cluster (names, tags,
descriptions of rules) and belong to no Service of the cluster any more, as the
plan of their deletion. Without --delete it only reads.

Give it the kubeconfig, the cloud configuration and the cluster name of the
controller, or --release to take the latter two from its Deployment: with those of
another cluster, everything would look like an orphan.

Services share resources in the cloud. If a Service is refused, or has a class that this
controller does not serve, its desired resources may be unknown. Resources that it may
share are not listed then, and the output names the Service.

With --delete the plan is shown first and performed when "yes" is typed, or at
once with --yes.

Exit codes:
  0  there are none, or all of them were deleted, and every Service was judged
  1  error: the cloud or cluster can not be read, or something could not be deleted
  2  there are some, and they were not deleted
  3  none was found, or every found one was deleted, and not every Service could
     be judged: there may be others`

// orphansFlags are those of the verb.
type orphansFlags struct {
	setupFlags
	input           offline.Input
	look            outputFlags
	remove, certain bool
}

func newOrphans() *cobra.Command {
	f := &orphansFlags{}
	cmd := &cobra.Command{
		Use:   "orphans (--release NAME | --provider NAME)",
		Short: "List resources in the cloud that belonged to deleted Services",
		Long:  orphansHelp,
		Example: "  berth orphans --release berth\n" +
			"  berth orphans --provider aws --cloud-config cloud.conf --kubeconfig admin.conf",
		Args: cobra.NoArgs,
	}
	f.look.register(cmd, offline.Report{}.Formats())
	set := cmd.Flags()
	f.input.RegisterConnection(set)
	f.setupFlags.register(cmd, releaseHelp, "cloud to look at")
	set.BoolVar(&f.remove, "delete", false, "delete them, after the plan was shown and confirmed")
	set.BoolVar(&f.certain, "yes", false, "do not ask for the confirmation of --delete")
	cmd.MarkFlagsOneRequired("provider", "release")
	completeFlags(cmd, map[string][]string{"output": offline.Report{}.Formats()})
	cmd.RunE = f.run
	return cmd
}

func (f *orphansFlags) run(cmd *cobra.Command, _ []string) error {
	if err := f.look.legal(offline.Report{}.Formats()); err != nil {
		return err
	}
	f.target.Settings = settings.Settings{DefaultClass: true, OnTakeover: "converge"}
	opened, err := f.read(cmd, f.input, (*offline.Release).Judging)
	defer closeRelease(opened)
	if opened != nil {
		printNotes(cmd, opened.Notes)
	}
	if err != nil {
		return err
	}
	found, err := offline.FindOrphans(cmd.Context(), f.input, f.target)
	if err != nil {
		return err
	}
	if err := f.show(cmd, found); err != nil {
		return err
	}
	if found.Empty() || !f.remove {
		return exit(found.ExitCode())
	}
	if !f.certain && !askConfirmation(cmd) {
		return errors.New("not confirmed: nothing was deleted")
	}
	if err := found.Delete(cmd.Context(), func(line string) { cmd.PrintErrln(line) }); err != nil {
		return err
	}
	return exit(found.ExitCode())
}

func (f *orphansFlags) show(cmd *cobra.Command, found *offline.Orphans) error {
	report := found.Report()
	printNotes(cmd, report.Notes)
	if f.look.format == "human" {
		return printResult(cmd, found.Text(f.look.options(cmd)))
	}
	text, err := report.Render(f.look.format, f.look.options(cmd))
	if err != nil {
		return err
	}
	return printResult(cmd, text)
}

// askConfirmation asks for the one word that means yes.
func askConfirmation(cmd *cobra.Command) bool {
	cmd.PrintErr("Delete all of this? Only \"yes\" is taken for yes: ")
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && answer == "" {
		cmd.PrintErrln(fmt.Sprintf("no answer: %v", err))
	}
	return strings.TrimSpace(answer) == "yes"
}
