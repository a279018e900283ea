package wire

import (
	"net/http"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
)

// endpoints are the addresses of the APIs, without a path.
type endpoints struct{ vpc, iam, resources string }

// testRegion marks regions of IBM's own tests, which have other hosts.
const testRegion = "stage"

// endpointsOf returns the configured addresses, else those of the region: private ones unless
// the environment asks for public ones.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go (initialize).
func endpointsOf(c model.Config) endpoints {
	domain, host := "cloud.ibm.com", "private."
	if strings.Contains(c.Region, testRegion) {
		domain = "test.cloud.ibm.com"
	}
	out := endpoints{
		vpc: "https://" + c.Region + ".private.iaas." + domain,
		iam: "https://" + host + "iam." + domain, resources: "https://" + host + "resource-controller." + domain,
	}
	if c.Public {
		out = endpoints{vpc: "https://" + c.Region + ".iaas." + domain, iam: "https://iam." + domain, resources: "https://resource-controller." + domain}
	}
	for at, given := range map[*string]string{&out.vpc: c.VPCEndpoint, &out.iam: c.IAMEndpoint, &out.resources: c.ResourceEndpoint} {
		if given != "" {
			*at = strings.TrimSuffix(given, "/")
		}
	}
	return out
}

// clientFor returns the client of all calls, which are counted.
func clientFor(env providers.Env) *http.Client {
	return &http.Client{Transport: meter.New(kit.Transport(), env.Calls, meter.Language{Name: nameOf, Refusal: refusalOf})}
}
