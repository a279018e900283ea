package baidu

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/plugin"
	cloud "github.com/berth-lb/berth/providers/baidu"
)

func init() {
	plugin.Register(providers.EntryOf(cloud.Cloud()), plugin.FromEnvironment())
}
