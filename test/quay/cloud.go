package quay

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/quay/model"
	"github.com/berth-lb/berth/test/quay/wire"
)

// Cloud returns the provider: everything that the program asks of Quay.
func Cloud() providers.Cloud[model.Config, struct{}] {
	cloud := model.Cloud()
	cloud.Open = wire.Open
	return cloud
}
