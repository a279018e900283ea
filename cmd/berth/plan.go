package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
)

const planHelp = `Plan reads Services and the cloud, and shows every step the controller would take,
with its reason and its order. It only reads.

With -f the Services of the files are planned. What only a cluster assigns (UID,
node ports) is made up, so the plan is that of new Services; with --kubeconfig
besides, it is taken from the cluster's Service of the same name. Without -f the
Services of the cluster are planned. Where labels of namespaces decide, they are
those of the Namespaces in the files, else of the cluster. Where load balancers
follow pods, their EndpointSlices are those in the files, else of the cluster.

Exit codes:
  0  nothing to do: the cloud is as the Services want it
  1  error: a Service can not be planned, or the cloud or cluster can not be read
  2  changes: there are steps, or steps that are held`

func newPlan() *cobra.Command {
	var (
		services serviceFlags
		target   offline.Target
		provider string
		look     outputFlags
	)
	cmd := &cobra.Command{
		Use:   "plan --provider NAME [-f FILE] [--nodes FILE]",
		Short: "Show what would be done in the cloud",
		Long:  planHelp,
		Example: "  berth plan -f service.yaml --nodes nodes.yaml --provider aws --cloud-config cloud.conf\n" +
			"  berth plan -A --provider aws --cloud-config cloud.conf -o json",
		Args: cobra.NoArgs,
	}
	services.register(cmd)
	look.register(cmd, offline.Report{}.Formats())
	set := cmd.Flags()
	set.StringSliceVar(&services.input.NodeFiles, "nodes", nil, "file with the Nodes of the cluster; may be given several times")
	set.StringVar(&services.input.Kubeconfig, "kubeconfig", "", "kubeconfig of the cluster; without -f the default is that of kubectl")
	set.BoolVarP(&services.input.AllNamespaces, "all-namespaces", "A", false, "plan the Services of every namespace of the cluster")
	set.StringVar(&provider, "provider", "", "cloud to plan for: "+strings.Join(names(), ", ")+" (required)")
	set.StringVar(&target.CloudConfig, "cloud-config", "", "the cloud configuration file of the controller")
	set.StringVar(&target.PolicyConfig, "policy-config", "", "the policy file of the controller")
	set.StringSliceVar(&target.AllowedNamespaces, "allowed-namespaces", nil, "namespaces whose Services are served, as given to the controller")
	set.StringVar(&target.ClusterName, "cluster-name", "kubernetes", "name of the cluster, as given to the controller")
	required(cmd, "provider")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := look.legal(offline.Report{}.Formats())
		if err != nil {
			return err
		}
		if target.Cloud, err = all.Find(provider); err != nil {
			return err
		}
		target.Classes = services.served(target.Cloud)
		report, err := offline.Plan(cmd.Context(), services.from(cmd), target)
		if err != nil {
			return err
		}
		say(cmd, report.Notes)
		text, err := report.Render(look.format, look.options(cmd))
		if err != nil {
			return err
		}
		if err := show(cmd, text); err != nil {
			return err
		}
		return exit(report.ExitCode())
	}
	return cmd
}

// names lists the clouds.
func names() []string {
	var out []string
	for _, e := range all.List() {
		out = append(out, e.Name)
	}
	return out
}
