package alibaba

import (
	"github.com/berth-lb/berth/providers"
	cloud "github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/providers/plugin"
)

func init() {
	plugin.Register(providers.EntryOf(cloud.Cloud()), plugin.FromEnvironment())
}
