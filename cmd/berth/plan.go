package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
)

const planHelp = `Plan reads Services and the cloud, and shows every step the controller would take,
with its reason and its order. It only reads.

With -f the Services of the files are planned. What only a cluster assigns (UID,
node ports) is taken from the Service of the same name in the cluster of the current
context. Without a context, or with --offline, it is made up: the plan is that of new
Services, whether they exist or not. Without -f the Services of the cluster are
planned. Where labels of namespaces decide, they are
those of the Namespaces in the files, else of the cluster. Where load balancers
follow pods, their EndpointSlices are those in the files, else of the cluster.

The plan is that of a controller with the same flags. --release reads them, the cloud
configuration and the policy from the Deployment of a release of the chart; else give
the controller's own.

Exit codes:
  0  nothing to do: the cloud is as the Services want it
  1  error: a Service can not be planned, or the cloud or cluster can not be read
  2  changes: there are steps, or steps that are held`

// planFlags are those of the verb.
type planFlags struct {
	services serviceFlags
	targetFlags
	only       string
	set, unset []string
	summary    bool
	brief      bool
	look       outputFlags
}

func newPlan() *cobra.Command {
	f := &planFlags{}
	cmd := &cobra.Command{
		Use:   "plan [svc/NAME...] (--release NAME | --provider NAME) [-f FILE] [--nodes FILE]",
		Short: "Show what would be done in the cloud",
		Long:  planHelp,
		Example: "  berth plan -f service.yaml --nodes nodes.yaml --provider aws --cloud-config cloud.conf\n" +
			"  berth plan svc/web -n shop --release berth --set service.beta.kubernetes.io/aws-load-balancer-internal=true\n" +
			"  berth plan -A --release berth --summary\n" +
			"  berth plan svc/web -n shop --release berth",
	}
	f.services.register(cmd)
	f.look.register(cmd, offline.Report{}.Formats())
	set := cmd.Flags()
	set.StringSliceVar(&f.services.input.NodeFiles, "nodes", nil, "file with the Nodes of the cluster; may be given several times")
	f.services.input.RegisterConnection(set)
	set.BoolVarP(&f.services.input.AllNamespaces, "all-namespaces", "A", false, "plan the Services of every namespace of the cluster")
	f.targetFlags.register(cmd)
	set.BoolVar(&f.summary, "summary", false, "one line for each Service, the gravest impact first; the same as -o summary")
	set.BoolVar(&f.brief, "brief", false, "one line for each step and port; the same as -o brief")
	set.BoolVar(&f.services.input.Offline, "offline", false, "with -f: plan new Services, without the cluster of the current context")
	set.StringArrayVar(&f.set, "set", nil, "plan the Services with another value of an annotation, as KEY=VALUE; may be given several times")
	set.StringArrayVar(&f.unset, "unset", nil, "plan the Services without an annotation; may be given several times")
	set.StringVar(&f.only, "only", "", "show only the plans with "+strings.Join(offline.Onlys(), ", "))
	cmd.MarkFlagsMutuallyExclusive("summary", "brief")
	cmd.MarkFlagsMutuallyExclusive("offline", "kubeconfig")
	completeFlags(cmd, map[string][]string{"output": offline.Report{}.Formats(), "only": offline.Onlys()})
	completeNames(cmd, &f.services.input)
	completeSettings(cmd, &f.provider)
	cmd.RunE = f.run
	return cmd
}

func (f *planFlags) run(cmd *cobra.Command, args []string) error {
	err := errors.Join(f.look.legal(offline.Report{}.Formats()), f.legalOnly(), f.services.take(args))
	if err != nil {
		return err
	}
	if f.services.input.Changes, err = offline.ParseChanges(f.set, f.unset); err != nil {
		return err
	}
	closeRelease, err := f.open(cmd, f.services.input)
	defer closeRelease()
	if err != nil {
		return err
	}
	f.target.Progress = showProgress(cmd)
	report, err := offline.Plan(cmd.Context(), f.services.from(cmd), f.target)
	if err != nil {
		return err
	}
	printNotes(cmd, report.Notes)
	switch {
	case f.summary:
		f.look.format = "summary"
	case f.brief:
		f.look.format = "brief"
	}
	text, err := report.Only(f.only).Render(f.look.format, f.look.options(cmd))
	if err != nil {
		return err
	}
	if err := printResult(cmd, text); err != nil {
		return err
	}
	return exit(report.ExitCode())
}

func (f *planFlags) legalOnly() error {
	if f.only == "" || slices.Contains(offline.Onlys(), f.only) {
		return nil
	}
	return fmt.Errorf("--only %q is not known; legal: %s", f.only, strings.Join(offline.Onlys(), ", "))
}

// Progress is reported for so many Services and more, and after each so many of them.
const (
	manyServices = 50
	tellEach     = 25
)

// showProgress reports the progress of a long plan on stderr.
func showProgress(cmd *cobra.Command) func(done, all int) {
	return func(done, all int) {
		if all >= manyServices && done%tellEach == 0 {
			cmd.PrintErrf("planned %d of %d Services\n", done, all)
		}
	}
}

// cloudNames lists the clouds.
func cloudNames() []string {
	var out []string
	for _, e := range all.List() {
		out = append(out, e.Name)
	}
	return out
}
