package gce

import (
	"github.com/berth-lb/berth/providers"
	cloud "github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/providers/plugin"
)

func init() {
	plugin.Register(providers.EntryOf(cloud.Cloud()), plugin.FromEnvironment())
}
