package main

import (
	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/service/offline"
)

const renderPolicyHelp = `Render prints the part of the policy that the API server can enforce by itself, as
ValidatingAdmissionPolicies with their bindings: the namespaces, the classes, the annotations
and load balancers that the internet could reach. With them a Service is refused at the time it
is applied, whether or not a webhook or the controller runs. The controller enforces the whole
policy in any case; what it alone enforces is listed on standard error.

A policy of the API server knows neither the configuration of the cloud nor what exists in it.
Where that decides, it refuses: it never permits what the controller refuses. What a Service had
before an update, and a Service that is being deleted, is not refused.

Exit codes:
  0  printed
  1  there is no policy, or its file is invalid`

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{Use: "policy", Short: "Work with the policy file", Args: cobra.NoArgs}
	cmd.AddCommand(newRenderPolicy())
	return cmd
}

func newRenderPolicy() *cobra.Command {
	var (
		target targetFlags
		input  offline.Input
	)
	cmd := &cobra.Command{
		Use:   "render (--release NAME | --provider NAME --policy-config FILE)",
		Short: "Print the policy for the API server",
		Long:  renderPolicyHelp,
		Example: "  berth policy render --provider aws --policy-config policy.yaml | kubectl apply -f -\n" +
			"  berth policy render --release berth > policies.yaml",
		Args: cobra.NoArgs,
	}
	target.register(cmd)
	input.RegisterConnection(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		closeRelease, err := target.open(cmd, input)
		defer func() { closeRelease() }()
		if err != nil {
			return err
		}
		text, notes, err := offline.RenderPolicy(target.target)
		if err != nil {
			return err
		}
		printNotes(cmd, notes)
		return printResult(cmd, text)
	}
	return cmd
}
