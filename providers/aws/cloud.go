package aws

import "github.com/berth-lb/berth/providers"

// Cloud is the provider.
func Cloud() providers.Cloud[Config, *Facts] {
	cloud := contents()
	cloud.Open = Open
	return cloud
}
