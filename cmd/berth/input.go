package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/offline"
)

// serviceFlags say which Services are looked at.
type serviceFlags struct{ input offline.Input }

func (f *serviceFlags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringSliceVarP(&f.input.Files, "file", "f", nil, "file or folder with Services, - for standard input; may be given several times")
	set.StringVarP(&f.input.Namespace, "namespace", "n", "", "namespace of Services that name none")
	set.StringVarP(&f.input.Selector, "selector", "l", "", "label selector of the Services to show")
}

// take reads arguments such as svc/web.
func (f *serviceFlags) take(args []string) error {
	for _, arg := range args {
		kind, name, found := strings.Cut(arg, "/")
		if !found || !slices.Contains([]string{"svc", "service", "services"}, kind) || name == "" {
			return fmt.Errorf("%q is no Service; write svc/NAME", arg)
		}
		f.input.Names = append(f.input.Names, name)
	}
	return nil
}

// shareFlag registers --api-share, which every verb has that calls a cloud.
func shareFlag(cmd *cobra.Command, share *float64) {
	cmd.Flags().Float64Var(share, "api-share", kit.DefaultShare, "part of the cloud's documented API rates that is used; inf to be guided by refusals alone")
}

// from completes the input with what the command has been started with.
func (f *serviceFlags) from(cmd *cobra.Command) offline.Input {
	in := f.input
	in.Stdin = cmd.InOrStdin()
	return in
}

// completeFlags offers the legal values of flags that take one of a few words.
func completeFlags(cmd *cobra.Command, values map[string][]string) {
	for flag, words := range values {
		// Only a flag that does not exist is an error, which a test would meet.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
}
