package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/offline"
)

// serviceFlags say which Services are looked at.
type serviceFlags struct {
	input        offline.Input
	classes      []string
	defaultClass bool
}

func (f *serviceFlags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringSliceVarP(&f.input.Files, "file", "f", nil, "file or folder with Services, - for standard input; may be given several times")
	set.StringVarP(&f.input.Namespace, "namespace", "n", "", "namespace of Services that name none")
	set.StringVarP(&f.input.Selector, "selector", "l", "", "label selector of the Services to show")
	set.StringSliceVar(&f.classes, "load-balancer-class", nil, "values of spec.loadBalancerClass that are served, as given to the controller")
	set.BoolVar(&f.defaultClass, "default-class", true, "Services without a loadBalancerClass are served, as given to the controller")
}

// from completes the input with what the command has been started with.
func (f *serviceFlags) from(cmd *cobra.Command) offline.Input {
	in := f.input
	in.Stdin = cmd.InOrStdin()
	return in
}

func (f *serviceFlags) served(cloud providers.Entry) service.Classes {
	served := service.Classes{Default: f.defaultClass, Names: f.classes}
	if f.defaultClass {
		served.Names = append(slices.Clone(f.classes), cloud.Classes...)
	}
	return served
}
