package baidu

import (
	"github.com/berth-lb/berth/providers"
	cloud "github.com/berth-lb/berth/providers/baidu"
	"github.com/berth-lb/berth/providers/plugin"
)

func init() {
	plugin.Register(providers.EntryOf(cloud.Cloud()), plugin.FromEnvironment())
}
