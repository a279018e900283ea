package openstack

import "net/http"

// otherRoutes are the reads of Barbican and Nova.
func otherRoutes() []route {
	return []route{
		reads(apiBarbican, "ShowContainer", "/key-manager/v1/containers/{id}", showSecret(containers)),
		reads(apiBarbican, "ShowSecret", "/key-manager/v1/secrets/{id}", showSecret(secrets)),
		reads(apiNova, "ListServers", "/compute/v2.1/servers/detail", listOf(servers, asIs)),
		reads(apiNova, "ShowServer", "/compute/v2.1/servers/{id}", one(servers, "server", "Instance", asIs)),
	}
}

func showSecret(c collection) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		o, ok := v.state.Get(c, v.params["id"])
		if !ok {
			return nil, refuse(http.StatusNotFound, "NotFound", "Not Found. Sorry but your container or secret is in another castle.")
		}
		return o, nil
	}
}
