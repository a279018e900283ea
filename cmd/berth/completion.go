package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
)

// completionTime bounds how long a shell waits for names of the cluster.
const completionTime = 3 * time.Second

// completeNames offers what the cluster and the kubeconfig contain: Services as arguments, and
// namespaces, contexts and releases for the flags that the command has.
func completeNames(cmd *cobra.Command, input *offline.Input) {
	from := func(list func(offline.Completions, context.Context) []string) cobra.CompletionFunc {
		return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
			defer cancel()
			return list(offline.Completions{Input: *input}, ctx), cobra.ShellCompDirectiveNoFileComp
		}
	}
	cmd.ValidArgsFunction = from(offline.Completions.Services)
	for flag, list := range map[string]func(offline.Completions, context.Context) []string{
		"namespace": offline.Completions.Namespaces, "context": offline.Completions.Contexts, "release": offline.Completions.Releases,
	} {
		if cmd.Flags().Lookup(flag) != nil {
			// Only a flag that does not exist is an error.
			_ = cmd.RegisterFlagCompletionFunc(flag, from(list))
		}
	}
}

// completeSettings offers annotations for --set and --unset: of the cloud of --provider, or of all
// clouds if there is none yet.
func completeSettings(cmd *cobra.Command, provider *string) {
	sets := func() []*annotations.Set {
		if one, err := all.Find(*provider); err == nil {
			return []*annotations.Set{one.Annotations}
		}
		var out []*annotations.Set
		for _, cloud := range all.List() {
			out = append(out, cloud.Annotations)
		}
		return out
	}
	// Only a flag that does not exist is an error.
	_ = cmd.RegisterFlagCompletionFunc("set", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return annotations.Completions(typed, sets()...), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	_ = cmd.RegisterFlagCompletionFunc("unset", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return annotations.CompletionsOfKeys(sets()...), cobra.ShellCompDirectiveNoFileComp
	})
}
