package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
)

const annotationsHelp = `Annotations lists every annotation that is declared, with what is legal, what the
default is, which kinds of load balancers it is for, and whether it works, is
accepted without effect, or comes later.

Exit codes:
  0  listed
  1  error`

func newAnnotations() *cobra.Command {
	var provider, format string
	cmd := &cobra.Command{
		Use:     "annotations",
		Short:   "List the annotations that are understood",
		Long:    annotationsHelp,
		Example: "  berth annotations --provider aws -o json",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&provider, "provider", "", "only those of one cloud: "+strings.Join(names(), ", "))
	cmd.Flags().StringVarP(&format, "output", "o", "table", "form of output: "+strings.Join(offline.ReferenceFormats(), ", "))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		clouds := all.List()
		if provider != "" {
			one, err := all.Find(provider)
			if err != nil {
				return err
			}
			clouds = []providers.Entry{one}
		}
		text, err := offline.Reference(clouds, format)
		if err != nil {
			return err
		}
		return show(cmd, text)
	}
	return cmd
}
