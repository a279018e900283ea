package ibm

import (
	"github.com/berth-lb/berth/providers"
	cloud "github.com/berth-lb/berth/providers/ibm"
	"github.com/berth-lb/berth/providers/plugin"
)

func init() {
	plugin.Register(providers.EntryOf(cloud.Cloud()), plugin.FromEnvironment())
}
