package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/service/offline"
)

const graphHelp = `Graph draws a load balancer: the ports of its Service, the listeners, groups and rules
that serve them, the members behind them, and the other Services that use the same resources.
Resources that are desired and do not exist are marked as missing, others that exist and are not
desired as surplus. It reads the cloud once and writes nothing.

The graph of the steps of a plan is that of plan -o dot.`

// graphFlags are the flags of the command.
type graphFlags struct {
	services serviceFlags
	targetFlags
	look outputFlags
}

func newGraph() *cobra.Command {
	f := &graphFlags{}
	cmd := &cobra.Command{
		Use:   "graph svc/NAME (--release NAME | --provider NAME) [-f FILE]",
		Short: "Draw a load balancer with everything that belongs to it",
		Long:  graphHelp,
		Example: "  berth graph svc/web -n shop --release berth -o svg > web.svg\n" +
			"  berth graph svc/web -n shop --release berth -o mermaid",
		Args: cobra.MaximumNArgs(1),
	}
	f.services.register(cmd)
	f.look.register(cmd, offline.Topology{}.Formats())
	set := cmd.Flags()
	set.StringSliceVar(&f.services.input.NodeFiles, "nodes", nil, "file with the Nodes of the cluster; may be given several times")
	set.BoolVar(&f.services.input.Offline, "offline", false, "with -f: draw a new Service, without the cluster of the current context")
	f.services.input.RegisterConnection(set)
	f.targetFlags.register(cmd)
	cmd.MarkFlagsMutuallyExclusive("offline", "kubeconfig")
	completeFlags(cmd, map[string][]string{"output": offline.Topology{}.Formats()})
	completeNames(cmd, &f.services.input)
	cmd.RunE = f.run
	return cmd
}

func (f *graphFlags) run(cmd *cobra.Command, args []string) error {
	if err := errors.Join(f.look.legal(offline.Topology{}.Formats()), f.services.take(args)); err != nil {
		return err
	}
	closeRelease, err := f.open(cmd, f.services.input)
	defer closeRelease()
	if err != nil {
		return err
	}
	drawn, err := offline.Graph(cmd.Context(), f.services.from(cmd), f.target)
	if err != nil {
		return err
	}
	printNotes(cmd, drawn.Notes)
	text, err := drawn.Render(f.look.format)
	if err != nil {
		return err
	}
	return printResult(cmd, text)
}
