package main

import (
	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/offline"
)

const diffHelp = `Diff compares the Services of files with an older version of the same files, and says what
each difference does to a live load balancer. It asks neither cloud nor cluster, so it runs
in a pull request.

--base names the older version: a file or folder, else a revision of the git repository that
holds the files. Arguments name files, folders including their subfolders, or - for standard
input, such as the output of "helm template"; that needs a file or folder as the base.

The impact follows from the declarations of annotations (docs/reference) and from the fields
of the Service. Where only the cloud decides, the impact is unknown; a plan shows it.

Exit codes:
  0  no difference concerns a load balancer
  1  a Service has an error that the base does not have, or a file can not be read
  2  there are differences`

func newDiff() *cobra.Command {
	var (
		services serviceFlags
		by       offline.Checks
		provider string
		base     string
		look     outputFlags
	)
	formats := offline.Difference{}.Formats()
	cmd := &cobra.Command{
		Use:   "diff --base REVISION|PATH PATH...",
		Short: "Show what a change of files does to load balancers",
		Long:  diffHelp,
		Example: "  berth diff --base origin/main deploy/\n" +
			"  helm template ./chart | berth diff --base rendered-before.yaml --provider aws -\n" +
			"  berth diff --base origin/main -o markdown deploy/ > comment.md",
	}
	services.register(cmd)
	look.register(cmd, formats)
	set := cmd.Flags()
	set.StringVar(&base, "base", "", "the older version: a file, a folder, or a git revision")
	set.StringVar(&provider, "provider", "", "cloud of the Services (default: what each Service's annotations tell)")
	set.StringVar(&by.PolicyConfig, "policy-config", "", "the policy file of the controller")
	_ = cmd.MarkFlagRequired("base") // only a flag that does not exist is an error
	completeFlags(cmd, map[string][]string{"provider": cloudNames(), "output": formats})
	cmd.RunE = func(cmd *cobra.Command, paths []string) error {
		services.input.Files = append(services.input.Files, paths...)
		if err := look.legal(formats); err != nil {
			return err
		}
		by.Clouds, by.Classes, by.AnyOwnClass = all.List(), service.Classes{Default: true}, true
		if provider != "" {
			cloud, err := all.Find(provider)
			if err != nil {
				return err
			}
			by.Cloud = cloud
		}
		found, err := offline.Diff(cmd.Context(), base, services.from(cmd), by)
		if err != nil {
			return err
		}
		printNotes(cmd, found.Notes)
		text, err := found.Render(look.format, look.options(cmd))
		if err != nil {
			return err
		}
		if err := printResult(cmd, text); err != nil {
			return err
		}
		return exit(found.ExitCode())
	}
	return cmd
}
