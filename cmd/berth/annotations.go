package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
)

const annotationsHelp = `Annotations lists every declared annotation with its legal values, its default, the
kinds of load balancers that have it, and whether it works, is accepted without
effect, or is planned. With words it lists only annotations whose name or text contains
all of them, with every detail.

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
	cmd.Flags().StringVar(&provider, "provider", "", "only those of one cloud: "+strings.Join(cloudNames(), ", "))
	cmd.Flags().StringVarP(&format, "output", "o", "table", "form of output: "+strings.Join(offline.ReferenceFormats(), ", "))
	completeFlags(cmd, map[string][]string{"provider": cloudNames(), "output": offline.ReferenceFormats()})
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
		return printResult(cmd, text)
	}
	return cmd
}
