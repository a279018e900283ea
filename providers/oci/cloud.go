package oci

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/providers/oci/wire"
)

// Cloud is the provider: every function that the program calls, in the order in which
// it calls them for a Service.
func Cloud() providers.Cloud[model.Config, *model.Facts] {
	return providers.Cloud[model.Config, *model.Facts]{
		Name:         "oci",
		Kinds:        []string{model.LB, model.NLB},
		Capabilities: model.Capabilities(),
		Annotations:  model.Annotations(),
		Config:       model.ReadConfig,
		Choose:       model.Choose,
		Left:         model.Left,
		Refers:       model.Refers,
		Reach:        model.Reach,
		Becomes:      model.Becomes,
		Select:       model.SelectNodes,
		Trace:        model.Trace,
		OnDelete:     model.OnDelete(),
		Scope:        model.Scope,
		Fresh:        model.Fresh,
		Build:        model.Build,
		Follow:       model.Follow,
		Shadow:       model.Shadow,
		Rules:        model.Rules(),
		Status:       model.Addresses,
		Open:         wire.Open,
	}
}
