package openstack

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/providers/openstack/wire"
)

// Cloud is the provider: every function that the program calls, in the order in which
// it calls them for a Service.
func Cloud() providers.Cloud[model.Config, *model.Facts] {
	return providers.Cloud[model.Config, *model.Facts]{
		Name:         "openstack",
		Kinds:        []string{model.Octavia},
		Capabilities: model.Capabilities(),
		Annotations:  model.Annotations(),
		Config:       model.ReadConfig,
		Choose:       model.Choose,
		Reach:        model.Reach,
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
		Outputs:      model.Outputs(),
		Open:         wire.Open,
	}
}
