package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/service/offline"
)

const explainHelp = `Explain shows why each part of a load balancer is as it is. For every field it names
the annotation, field of the Service, setting of the cloud configuration or other input on which
the value depends, and the value without that input.

Berth builds the desired state once without each input and compares the results, so the
answer holds for this Service in this cloud. It reads the cloud once and writes nothing.

A second argument selects a part: KIND, KIND/NAME, KIND.FIELD or KIND/NAME.FIELD, as a plan
names them. For a single field it also shows the legal values of annotations and what a change
does to a live load balancer.`

// explainFlags are the flags of the command.
type explainFlags struct {
	services serviceFlags
	targetFlags
	look outputFlags
}

func newExplain() *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain [svc/NAME] [KIND[/NAME][.FIELD]] (--release NAME | --provider NAME) [-f FILE]",
		Short: "Show why a load balancer is as it is",
		Long:  explainHelp,
		Example: "  berth explain svc/web -n shop --release berth\n" +
			"  berth explain svc/web load-balancer.Scheme -f web.yaml --provider aws --cloud-config cloud.conf",
		Args: cobra.MaximumNArgs(2),
	}
	f.services.register(cmd)
	f.look.register(cmd, offline.Explained{}.Formats())
	set := cmd.Flags()
	set.StringSliceVar(&f.services.input.NodeFiles, "nodes", nil, "file with the Nodes of the cluster; may be given several times")
	set.BoolVar(&f.services.input.Offline, "offline", false, "with -f: explain a new Service, without the cluster of the current context")
	f.services.input.RegisterConnection(set)
	f.targetFlags.register(cmd)
	cmd.MarkFlagsMutuallyExclusive("offline", "kubeconfig")
	completeFlags(cmd, map[string][]string{"output": offline.Explained{}.Formats()})
	completeNames(cmd, &f.services.input)
	cmd.RunE = f.run
	return cmd
}

func (f *explainFlags) run(cmd *cobra.Command, args []string) error {
	services, selector := args, ""
	if n := len(args); n > 0 && !isService(args[n-1]) {
		services, selector = args[:n-1], args[n-1]
	}
	if err := errors.Join(f.look.legal(offline.Explained{}.Formats()), f.services.take(services)); err != nil {
		return err
	}
	closeRelease, err := f.open(cmd, f.services.input)
	defer closeRelease()
	if err != nil {
		return err
	}
	explained, err := offline.Explain(cmd.Context(), f.services.from(cmd), f.target, selector)
	if err != nil {
		return err
	}
	printNotes(cmd, explained.Notes)
	text, err := explained.Render(f.look.format, f.look.options(cmd))
	if err != nil {
		return err
	}
	return printResult(cmd, text)
}

// isService reports whether an argument names a Service, as svc/web.
func isService(arg string) bool {
	kind, _, _ := strings.Cut(arg, "/")
	return kind == "svc" || kind == "service" || kind == "services"
}
