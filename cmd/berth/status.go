package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/service/offline"
)

const statusHelp = `Status shows Services of type LoadBalancer: their addresses, whether they are accepted
and programmed, and the reason if not. For Services named as arguments it shows every
condition with its message, and the last events. It reads only the cluster, unless a
cloud is given: then it shows, for the named Services, the path from the load balancer
to its members, and the health of each member as the cloud reports it. That costs a
read of these Services, which the controller never does.

The conditions are compared with the present Service, the Lease of the controller
and, if it is read, the cloud: "left alone", "not looked at yet", "changed since", or
that the cloud has no load balancer of the Service. --release or --provider describe
the setup of the controller. Without them "changed" is decided by the defaults of all
clouds, and no Service counts as left alone. With -A and --release the cloud is not read.

Exit codes:
  0  every Service that this program serves is in its desired state
  1  error: the cluster can not be read
  2  a Service is not accepted, was not looked at yet or has changed since, or its load
     balancer is not as wanted or not found`

// clusterFlags say which Services of a cluster are looked at.
type clusterFlags struct{ services serviceFlags }

func (f *clusterFlags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVarP(&f.services.input.Namespace, "namespace", "n", "", "namespace of the Services (default: that of the kubeconfig)")
	set.StringVarP(&f.services.input.Selector, "selector", "l", "", "label selector of the Services")
	set.BoolVarP(&f.services.input.AllNamespaces, "all-namespaces", "A", false, "the Services of every namespace")
	f.services.input.RegisterConnection(set)
}

// watchInterval is how often the cluster is read again, examineInterval the cloud, whose
// rates are shared with the controller.
const (
	watchInterval   = 2 * time.Second
	examineInterval = 15 * time.Second
)

func newStatus() *cobra.Command {
	var (
		cluster clusterFlags
		look    outputFlags
		watch   bool
		cloud   cloudFlags
	)
	cmd := &cobra.Command{
		Use:     "status [svc/NAME...]",
		Short:   "Show how Services stand, and why",
		Long:    statusHelp,
		Example: "  berth status -A\n  berth status svc/web -n shop\n  berth status svc/web -n shop --release berth -w",
	}
	cluster.register(cmd)
	look.register(cmd, offline.Standings{}.Formats())
	cloud.register(cmd)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show again whenever something changes, until interrupted")
	completeFlags(cmd, map[string][]string{"output": offline.Standings{}.Formats()})
	completeNames(cmd, &cluster.services.input)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := look.legal(offline.Standings{}.Formats()); err != nil {
			return err
		}
		if err := cluster.services.take(args); err != nil {
			return err
		}
		if err := cloud.take(cmd, cluster.services.input); err != nil {
			return err
		}
		defer cloud.close()
		for shown := ""; ; {
			found, err := offline.Status(cmd.Context(), cluster.services.from(cmd), cloud.judge())
			if err != nil {
				return err
			}
			if err := cloud.examine(cmd, &found, cluster.services.from(cmd)); err != nil {
				return err
			}
			text, err := found.Render(look.format, look.options(cmd).Width)
			if err != nil {
				return err
			}
			if text != shown {
				if err := printResult(cmd, text); err != nil {
					return err
				}
			}
			if shown = text; !watch || !pauseFor(cmd.Context(), cloud.interval()) {
				return exit(found.ExitCode())
			}
		}
	}
	return cmd
}

// pauseFor waits; false if the command was interrupted.
func pauseFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

const syncHelp = `Sync makes the controller reconcile Services regardless of its caches: it reads the
cloud and corrects differences, such as a load balancer that was deleted by hand. It
writes one annotation, berth-lb.io/look-again, on each Service.

Exit codes:
  0  the controller was asked
  1  error: the cluster can not be read or written`

func newSync() *cobra.Command {
	var cluster clusterFlags
	cmd := &cobra.Command{
		Use:     "sync svc/NAME...",
		Short:   "Make the controller reconcile Services",
		Long:    syncHelp,
		Example: "  berth sync svc/web -n shop",
		Args:    cobra.MinimumNArgs(1),
	}
	cluster.register(cmd)
	completeNames(cmd, &cluster.services.input)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cluster.services.take(args); err != nil {
			return err
		}
		owners, err := offline.Sync(cmd.Context(), cluster.services.from(cmd), time.Now())
		for _, o := range owners {
			cmd.PrintErrln("asked: " + o.String())
		}
		return err
	}
	return cmd
}
