package ibm

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// nameForm is the form of names. Source: VPC API reference, LoadBalancerPrototype.name.
var nameForm = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// refuseBusy is the refusal of a write while another one is under way.
// Source: ibm-cloud-docs/vpc, lb-ts-409.md.
func refuseBusy(lb rest.Object) *rest.Error {
	return rest.Refuse(http.StatusConflict, "load_balancer_update_conflict", "The load balancer with ID '%s' cannot be updated because its status is '%s'.",
		lb.Text("id"), strings.ToUpper(lb.Text(provisioning)))
}

// writable returns the load balancer of the path, which must be active.
func (v *visit) writable() (rest.Object, error) {
	lb, ok := v.State.Get(balancers, v.Params["id"])
	switch {
	case !ok:
		return nil, refuseMissing("load_balancer", v.Params["id"])
	case lb.Text(provisioning) != active:
		return nil, refuseBusy(lb)
	}
	return lb, nil
}

// touch makes a load balancer busy after a write.
func (v *visit) touch(lb rest.Object) rest.Object {
	lb = lb.With(rest.Object{provisioning: updatePending, version: v.State.id()})
	if v.cloud.opt.Busy == 0 {
		lb[provisioning] = active
	} else {
		v.State.until[lb.Text("id")] = v.Time.Add(v.cloud.opt.Busy)
	}
	return v.State.Put(balancers, lb)
}

func getBalancer(v *visit) (any, error) {
	lb, ok := v.State.Get(balancers, v.Params["id"])
	if !ok {
		return nil, refuseMissing("load_balancer", v.Params["id"])
	}
	v.Answer.Header.Set("Etag", `W/"`+lb.Text(version)+`"`)
	return showBalancer(v, lb), nil
}

// showBalancer returns a load balancer as the API answers it, with references to its parts.
func showBalancer(v *visit, lb rest.Object) rest.Object {
	id := lb.Text("id")
	var front, behind []any
	for _, l := range v.State.Having(listeners, owner, id) {
		front = append(front, rest.Object{"id": l.Text("id"), "href": v.href("load_balancers", id, "listeners", l.Text("id"))})
	}
	for _, p := range v.State.Having(pools, owner, id) {
		behind = append(behind, rest.Object{"id": p.Text("id"), "name": p.Text("name"), "href": v.href("load_balancers", id, "pools", p.Text("id"))})
	}
	return lb.Without(version, placed).With(rest.Object{"listeners": orEmpty(front), "pools": orEmpty(behind), "href": v.href("load_balancers", id)}).With(traitsOf(profileOf(lb)))
}

func orEmpty(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

func createBalancer(v *visit) (any, error) {
	name := v.Body.Text("name")
	if !nameForm.MatchString(name) {
		return nil, refuseInvalid("name", "%q is not a valid name", name)
	}
	if len(v.State.Having(balancers, "name", name)) > 0 {
		return nil, rest.Refuse(http.StatusBadRequest, "load_balancer_duplicate_name", "The load balancer name '%s' is in use", name)
	}
	p, err := v.profile()
	if err != nil {
		return nil, err
	}
	places, err := v.subnetsOf(v.Body.Objects("subnets"), p)
	if err != nil {
		return nil, err
	}
	secured, err := v.groupsOf(v.Body.Objects("security_groups"), p, places)
	if err != nil {
		return nil, err
	}
	group := v.Body.Object("resource_group").Text("id")
	if _, ok := v.State.Get(resourceGroups, group); group != "" && !ok {
		return nil, refuseMissing("resource_group", group)
	}
	id := v.State.id()
	lb := rest.Object{
		"id": id, "name": name, "is_public": v.Body.Truth("is_public"), "is_private_path": p.path, "created_at": v.Time.UTC().Format(timeForm), "profile": v.showProfile(p),
		"crn":      fmt.Sprintf("crn:v1:bluemix:public:is:%s:a/%s::load-balancer:%s", v.cloud.opt.Region, accountID, id),
		"hostname": fmt.Sprintf("%s-%s.lb.appdomain.cloud", id[5:13], v.cloud.opt.Region), "subnets": places, "security_groups": secured,
		"resource_group": v.showGroupOf(group), provisioning: createPending, operating: "offline", version: id, placed: v.State.made,
		"private_ips": []any{}, "public_ips": []any{},
	}
	if !p.network {
		lb = withAddresses(lb)
	}
	if dns := v.Body.Object("dns"); dns != nil {
		if p.network || v.Body.Truth("is_public") {
			return nil, refuseInvalid("dns", "is possible for private application load balancers only")
		}
		lb["dns"] = dns
	}
	v.State.Put(balancers, lb)
	if err := v.fill(lb); err != nil {
		return nil, err
	}
	if v.cloud.opt.Create == 0 {
		v.State.Put(balancers, v.State.online(lb))
	} else {
		v.State.until[id] = v.Time.Add(v.cloud.opt.Create)
	}
	// The answer shows a load balancer before it is active, however fast it is.
	return showBalancer(v, lb.With(rest.Object{provisioning: createPending, operating: "offline"})), nil
}

// fill creates the pools and listeners of a new load balancer.
func (v *visit) fill(lb rest.Object) error {
	for _, p := range v.Body.Objects("pools") {
		if _, err := v.addPool(lb, p); err != nil {
			return err
		}
	}
	for _, l := range v.Body.Objects("listeners") {
		if _, err := v.addListener(lb, l); err != nil {
			return err
		}
	}
	return nil
}

// updateBalancer changes the name, or the subnets or groups as a whole, for which the version
// that was read must be named.
// Source: VPC API reference, "Update a load balancer".
func updateBalancer(v *visit) (any, error) {
	lb, err := v.writable()
	if err != nil {
		return nil, err
	}
	next := lb.With(nil)
	if v.Body["subnets"] != nil {
		if match := v.HTTP.Header.Get("If-Match"); match != `W/"`+lb.Text(version)+`"` {
			return nil, rest.Refuse(http.StatusPreconditionFailed, "precondition_failed", "The If-Match header %s is not the version of the load balancer", match)
		}
		if profileOf(lb).network {
			return nil, refuseInvalid("subnets", "cannot change on a network load balancer")
		}
		if next["subnets"], err = v.subnetsOf(v.Body.Objects("subnets"), profileOf(lb)); err != nil {
			return nil, err
		}
	}
	if name := v.Body.Text("name"); name != "" {
		if !nameForm.MatchString(name) {
			return nil, refuseInvalid("name", "%q is not a valid name", name)
		}
		next["name"] = name
	}
	return showBalancer(v, v.touch(next)), nil
}

// deleteBalancer begins a deletion. Source: ibm-cloud-docs/vpc, lb-ts-409.md.
func deleteBalancer(v *visit) (any, error) {
	lb, ok := v.State.Get(balancers, v.Params["id"])
	if !ok {
		return nil, refuseMissing("load_balancer", v.Params["id"])
	}
	if !slices.Contains([]string{active, failed}, lb.Text(provisioning)) {
		return nil, refuseBusy(lb)
	}
	if v.cloud.opt.Busy == 0 {
		v.State.dropBalancer(lb.Text("id"))
		return nil, nil
	}
	v.State.Put(balancers, lb.With(rest.Object{provisioning: deletePending}))
	v.State.until[lb.Text("id")] = v.Time.Add(v.cloud.opt.Busy)
	return nil, nil
}
