package main

import (
	"context"
	"net/http"
)

// furnisher makes things of the real cloud one after the other, until one fails.
type furnisher struct {
	cloud *cloud
	err   error
}

func (f *furnisher) make(ctx context.Context, api, path, kind string, body document) string {
	if f.err != nil {
		return ""
	}
	var id string
	id, f.err = f.cloud.must(ctx, http.MethodPost, api, path, document{kind: body}, kind+".id")
	return id
}

func (f *furnisher) put(ctx context.Context, api, path string, body any) {
	if f.err == nil {
		_, f.err = f.cloud.must(ctx, http.MethodPut, api, path, body, "")
	}
}

// furnish creates in the real cloud the initial resources of the simulated one: the catalog,
// an ordinary project with its user, networks, a flavor and a zone. It returns the cloud as
// that user sees it, with the resources under the names that the script uses.
func (r *deployment) furnish(ctx context.Context) (*cloud, error) {
	admin, err := openCloud(ctx, "real", r.Identity, "admin", r.Password, "admin")
	if err != nil {
		return nil, err
	}
	f := &furnisher{cloud: admin}
	for kind, url := range map[string]string{"network": r.Network, "load-balancer": r.Balancer} {
		service := f.make(ctx, "identity", "/services", "service", document{"name": kind, "type": kind})
		f.make(ctx, "identity", "/endpoints", "endpoint", document{"interface": "public", "region_id": region, "url": url, "service_id": service})
	}
	project := f.make(ctx, "identity", "/projects", "project", document{"name": projectName, "domain_id": "default"})
	user := f.make(ctx, "identity", "/users", "user", document{"name": userName, "password": userPassword, "domain_id": "default"})
	for _, role := range []string{"member", "load-balancer_member"} {
		id := f.roleNamed(ctx, role)
		f.put(ctx, "identity", "/projects/"+project+"/users/"+user+"/roles/"+id, nil)
	}
	if f.err != nil {
		return nil, f.err
	}
	// The token so far is good for a catalog without the new entries.
	if f.cloud, err = openCloud(ctx, "real", r.Identity, "admin", r.Password, "admin"); err != nil {
		return nil, err
	}
	known := f.public(ctx)
	profile := f.make(ctx, "load-balancer", "/lbaas/flavorprofiles", "flavorprofile", document{"name": "large", "provider_name": "amphora", "flavor_data": "{}"})
	known["flavor"] = f.make(ctx, "load-balancer", "/lbaas/flavors", "flavor", document{"name": "large", "flavor_profile_id": profile, "enabled": true})
	profile = f.make(ctx, "load-balancer", "/lbaas/availabilityzoneprofiles", "availability_zone_profile", document{"name": "az", "provider_name": "amphora", "availability_zone_data": "{}"})
	if f.err == nil {
		_, f.err = f.cloud.must(ctx, http.MethodPost, "load-balancer", "/lbaas/availabilityzones",
			document{"availability_zone": document{"name": zone, "availability_zone_profile_id": profile, "enabled": true}}, "")
	}
	if f.err != nil {
		return nil, f.err
	}
	if f.cloud, err = openCloud(ctx, "real", r.Identity, userName, userPassword, projectName); err != nil {
		return nil, err
	}
	f.private(ctx, known)
	f.cloud.known = known
	return f.cloud, f.err
}

// zone is the availability zone of both clouds.
const zone = "az-1"

// roleNamed finds a role, or makes it.
func (f *furnisher) roleNamed(ctx context.Context, name string) string {
	if f.err != nil {
		return ""
	}
	if id, err := f.cloud.must(ctx, http.MethodGet, "identity", "/roles?name="+name, nil, "roles.0.id"); err == nil {
		return id
	}
	return f.make(ctx, "identity", "/roles", "role", document{"name": name})
}

// public makes the external networks, which only an administrator may.
func (f *furnisher) public(ctx context.Context) map[string]string {
	known := map[string]string{}
	external := func(name string) string {
		return f.make(ctx, "network", "/networks", "network", document{
			"name": name, "router:external": true, "shared": true, "provider:network_type": "flat", "provider:physical_network": name,
		})
	}
	known["public"] = external("public")
	f.make(ctx, "network", "/subnets", "subnet", document{"name": "second", "network_id": external("second"), "cidr": "192.0.2.0/24", "ip_version": 4})
	for name, cidr := range map[string]string{"public-a": "203.0.113.0/24", "public-b": "198.51.100.0/24"} {
		known[name] = f.make(ctx, "network", "/subnets", "subnet", document{"name": name, "network_id": known["public"], "cidr": cidr, "ip_version": 4})
		f.put(ctx, "network", "/subnets/"+known[name]+"/tags/internet", nil)
	}
	f.put(ctx, "network", "/subnets/"+known["public-b"]+"/tags/partners", nil)
	return known
}

// private makes the networks of the project and the router between all.
func (f *furnisher) private(ctx context.Context, known map[string]string) {
	router := f.make(ctx, "network", "/routers", "router", document{"name": "router", "external_gateway_info": document{"network_id": known["public"]}})
	for name, cidr := range map[string]string{"cluster": "10.0.0.0/16", "other": "10.1.0.0/24"} {
		network := f.make(ctx, "network", "/networks", "network", document{"name": name})
		subnet := f.make(ctx, "network", "/subnets", "subnet", document{"name": name, "network_id": network, "cidr": cidr, "ip_version": 4})
		f.put(ctx, "network", "/routers/"+router+"/add_router_interface", document{"subnet_id": subnet})
		known[name+"-net"], known[name] = network, subnet
	}
	known["reserved"] = f.make(ctx, "network", "/ports", "port", document{
		"name": "reserved", "network_id": known["cluster-net"], "fixed_ips": []any{document{"subnet_id": known["cluster"], "ip_address": "10.0.200.1"}},
	})
}
