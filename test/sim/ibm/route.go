package ibm

import (
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// route is one call of an API. Names are those of the operations in the API reference.
type route = rest.Route[*visit]

// allRoutes is the table of all calls of Berth and of the official controller.
func allRoutes() []route {
	return slices.Concat(identityRoutes(), networkRoutes(), groupRoutes(), balancerRoutes(), partRoutes())
}

// Operations are all calls that the simulator knows, as the journal names them, with the
// API before them.
func Operations() []string { return rest.Operations(allRoutes()) }

// getOne answers an object of a collection.
func getOne(collection string, show func(*visit, rest.Object) rest.Object) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		o, ok := v.State.Get(collection, v.Params["id"])
		if !ok {
			return nil, refuseMissing(strings.TrimSuffix(collection, "s"), v.Params["id"])
		}
		return show(v, o), nil
	}
}

// listAll answers the objects of a collection in pages.
func listAll(collection string, show func(*visit, rest.Object) rest.Object) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		var out []rest.Object
		for _, o := range v.State.All(collection, nil) {
			out = append(out, show(v, o))
		}
		return v.page(collection, out)
	}
}

func asIs(_ *visit, o rest.Object) rest.Object { return o }

func networkRoutes() []route {
	return []route{
		rest.Reads(apiVPC, "list_subnets", "/v1/subnets", listAll(subnets, asIs)),
		rest.Reads(apiVPC, "get_subnet", "/v1/subnets/{id}", getOne(subnets, asIs)),
		rest.Reads(apiVPC, "list_vpcs", "/v1/vpcs", listAll(vpcs, asIs)),
		rest.Reads(apiVPC, "list_instances", "/v1/instances", listInstances),
		rest.Reads(apiVPC, "get_region", "/v1/regions/{name}", getRegion),
	}
}

func getRegion(v *visit) (any, error) {
	if v.Params["name"] != v.cloud.opt.Region {
		return nil, refuseMissing("region", v.Params["name"])
	}
	return rest.Object{"name": v.Params["name"], "status": "available", "endpoint": "https://" + v.Params["name"] + ".iaas.cloud.ibm.com", "href": v.href("regions", v.Params["name"])}, nil
}

// listInstances answers instances by name, as the node controller asks for them.
func listInstances(v *visit) (any, error) {
	name := v.HTTP.URL.Query().Get("name")
	return v.page(instances, v.State.All(instances, func(o rest.Object) bool { return name == "" || o.Text("name") == name }))
}

func balancerRoutes() []route {
	const all, item = "/v1/load_balancers", "/v1/load_balancers/{id}"
	return []route{
		rest.Reads(apiVPC, "list_load_balancers", all, listAll(balancers, showBalancer)),
		rest.Reads(apiVPC, "get_load_balancer", item, getBalancer),
		rest.Writes(apiVPC, "create_load_balancer", http.MethodPost, all, http.StatusCreated, createBalancer),
		rest.Writes(apiVPC, "update_load_balancer", http.MethodPatch, item, http.StatusOK, updateBalancer),
		rest.Writes(apiVPC, "delete_load_balancer", http.MethodDelete, item, http.StatusAccepted, deleteBalancer),
	}
}

func partRoutes() []route {
	const (
		lb     = "/v1/load_balancers/{id}"
		front  = lb + "/listeners"
		behind = lb + "/pools"
		of     = behind + "/{pool}/members"
	)
	return []route{
		rest.Reads(apiVPC, "list_load_balancer_listeners", front, listParts(listeners, showListener)),
		rest.Reads(apiVPC, "list_load_balancer_pools", behind, listParts(pools, showPool)),
		rest.Reads(apiVPC, "list_load_balancer_pool_members", of, listMembers),
		rest.Writes(apiVPC, "create_load_balancer_listener", http.MethodPost, front, http.StatusCreated, changesPart(createListener)),
		rest.Writes(apiVPC, "update_load_balancer_listener", http.MethodPatch, front+"/{listener}", http.StatusOK, changesPart(updateListener)),
		rest.Writes(apiVPC, "delete_load_balancer_listener", http.MethodDelete, front+"/{listener}", http.StatusAccepted, changesPart(deleteListener)),
		rest.Writes(apiVPC, "create_load_balancer_pool", http.MethodPost, behind, http.StatusCreated, changesPart(createPool)),
		rest.Writes(apiVPC, "update_load_balancer_pool", http.MethodPatch, behind+"/{pool}", http.StatusOK, changesPart(updatePool)),
		rest.Writes(apiVPC, "delete_load_balancer_pool", http.MethodDelete, behind+"/{pool}", http.StatusAccepted, changesPart(deletePool)),
		rest.Writes(apiVPC, "create_load_balancer_pool_member", http.MethodPost, of, http.StatusCreated, changesPart(createMember)),
		rest.Writes(apiVPC, "replace_load_balancer_pool_members", http.MethodPut, of, http.StatusAccepted, changesPart(replaceMembers)),
		rest.Writes(apiVPC, "delete_load_balancer_pool_member", http.MethodDelete, of+"/{member}", http.StatusAccepted, changesPart(deleteMember)),
	}
}
