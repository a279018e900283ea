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
accepted without effect, or comes later. With words it shows those alone that have all
of them in their name or text, and all that is known of each.

Exit codes:
  0  listed
  1  error, or no annotation has these words`

func newAnnotations() *cobra.Command {
	var provider, format string
	cmd := &cobra.Command{
		Use:     "annotations [WORD...]",
		Short:   "List the annotations that are understood",
		Long:    annotationsHelp,
		Example: "  berth annotations idle timeout\n  berth annotations --provider aws -o json",
	}
	cmd.Flags().StringVar(&provider, "provider", "", "only those of one cloud: "+strings.Join(names(), ", "))
	cmd.Flags().StringVarP(&format, "output", "o", "table", "form of output: "+strings.Join(offline.ReferenceFormats(), ", "))
	complete(cmd, map[string][]string{"provider": names(), "output": offline.ReferenceFormats()})
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		clouds := all.List()
		if provider != "" {
			one, err := all.Find(provider)
			if err != nil {
				return err
			}
			clouds = []providers.Entry{one}
		}
		text, err := offline.Reference(clouds, format, words...)
		if err != nil {
			return err
		}
		return show(cmd, text)
	}
	return cmd
}
