package openstack

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/providers/openstack/wire"
)

// Cloud is the provider.
func Cloud() providers.Cloud[model.Config, *model.Facts] {
	cloud := model.Cloud()
	cloud.Open = wire.Open
	return cloud
}
