package alibaba

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/alibaba/wire"
)

// Cloud is the provider.
func Cloud() providers.Cloud[model.Config, *model.Facts] {
	cloud := model.Cloud()
	cloud.Open = wire.Open
	return cloud
}
