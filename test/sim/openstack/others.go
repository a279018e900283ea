package openstack

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

// otherRoutes are the reads of Barbican and Nova.
func otherRoutes() []route {
	return []route{
		rest.Reads(apiBarbican, "ShowContainer", "/key-manager/v1/containers/{id}", showSecret(containers)),
		rest.Reads(apiBarbican, "ShowSecret", "/key-manager/v1/secrets/{id}", showSecret(secrets)),
		rest.Reads(apiNova, "ListServers", "/compute/v2.1/servers/detail", listOf(servers, asIs)),
		rest.Reads(apiNova, "ShowServer", "/compute/v2.1/servers/{id}", readObject(servers, "server", "Instance", asIs)),
	}
}

func showSecret(c collection) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		o, ok := v.State.Get(c, v.Params["id"])
		if !ok {
			return nil, rest.Refuse(http.StatusNotFound, "NotFound", "Not Found. Sorry but your container or secret is in another castle.")
		}
		return o, nil
	}
}
