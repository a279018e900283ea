package baidu

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/providers/baidu/wire"
)

// Cloud is the provider.
func Cloud() providers.Cloud[model.Config, *model.Facts] {
	cloud := model.Cloud()
	cloud.Open = wire.Open
	return cloud
}
