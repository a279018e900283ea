package openstack

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// The states of what Octavia provisions. Source: Octavia API reference, status codes.
const (
	active        = "ACTIVE"
	broken        = "ERROR"
	pendingCreate = "PENDING_CREATE"
	pendingUpdate = "PENDING_UPDATE"
	pendingDelete = "PENDING_DELETE"
)

// The operating statuses. Source: Octavia API reference, operating status codes.
const (
	online      = "ONLINE"
	offline     = "OFFLINE"
	unmonitored = "NO_MONITOR" // of a member without a health check
)

const (
	provisioning = "provisioning_status"
	operating    = "operating_status"
)

const octaviaPath = "/load-balancer/v2.0/lbaas/"

func balancerRoutes() []route {
	path := octaviaPath + string(balancers)
	return []route{
		rest.Reads(apiOctavia, "ListLoadBalancers", path, listOf(balancers, showBalancer)),
		rest.Reads(apiOctavia, "ShowLoadBalancer", path+"/{id}", readObject(balancers, "loadbalancer", "Load Balancer", showBalancer)),
		rest.Reads(apiOctavia, "ShowLoadBalancerStatus", path+"/{id}/status", balancerStatus),
		rest.Writes(apiOctavia, "CreateLoadBalancer", http.MethodPost, path, http.StatusCreated, createBalancer),
		rest.Writes(apiOctavia, "UpdateLoadBalancer", http.MethodPut, path+"/{id}", http.StatusOK, updateBalancer),
		rest.Writes(apiOctavia, "FailoverLoadBalancer", http.MethodPut, path+"/{id}/failover", http.StatusAccepted, failoverBalancer),
		rest.Writes(apiOctavia, "DeleteLoadBalancer", http.MethodDelete, path+"/{id}", http.StatusNoContent, deleteBalancer),
		rest.Reads(apiOctavia, "ShowQuota", octaviaPath+"quotas/{id}", showQuota),
		rest.Reads(apiOctavia, "ListFlavors", octaviaPath+string(flavors), listOf(flavors, asIs)),
		rest.Reads(apiOctavia, "ListAvailabilityZones", octaviaPath+"availabilityzones", listOf(zones, showZone)),
	}
}

// touch makes a load balancer busy with a change, and what is touched below it with it.
func (v *visit) touch(id, status string) {
	v.State.Change(balancers, id, Object{provisioning: status})
	v.State.busy[id] = v.Time.Add(v.cloud.opt.Busy)
	lb, _ := v.State.Get(balancers, id)
	if v.Breaks || v.cloud.opt.Breaks != "" && status != pendingDelete && strings.Contains(lb.Text("name"), v.cloud.opt.Breaks) {
		v.State.fail[id] = true
	}
	if v.Fails {
		v.State.part[id] = true
	}
	v.State.Settle(v.Time)
}

// settle ends the changes that have taken their time.
func (s *state) Settle(now time.Time) {
	for id, until := range s.busy {
		if now.Before(until) {
			continue
		}
		end := active
		if s.fail[id] {
			end = broken
		}
		if s.part[id] {
			s.failParts(id, formatTime(now))
		}
		delete(s.busy, id)
		delete(s.fail, id)
		delete(s.part, id)
		s.settleOne(id, end, formatTime(now))
	}
}

// settleOne ends the change of a load balancer in a state, at a time. A change that ends in
// ERROR leaves the operating statuses as they are: the provisioning status is that of the
// last change, and the operating status follows from what amphorae report.
// Sources: openstack/octavia, controller/worker/task_utils.py
// (mark_loadbalancer_prov_status_error) and amphorae/drivers/health/heartbeat_udp.py.
func (s *state) settleOne(id, end, at string) {
	lb, ok := s.Get(balancers, id)
	if !ok {
		return
	}
	if lb.Text(provisioning) == pendingDelete && end == active {
		s.removeBalancer(lb)
		return
	}
	s.Change(balancers, id, finishChange(lb, end, end, at))
	for _, c := range []collection{listeners, pools, members, monitors} {
		for _, o := range s.Having(c, "loadbalancer", id) {
			switch o.Text(provisioning) {
			case pendingDelete:
				if end == active {
					s.dropPart(c, o)
				}
			case pendingCreate, pendingUpdate:
				s.Change(c, o.Text("id"), finishChange(o, active, end, at))
			case active:
				if end == active && o.Text(operating) == offline {
					s.Change(c, o.Text("id"), Object{operating: online})
				}
			}
		}
	}
}

// failParts ends the change of the innermost parts of a load balancer in ERROR. What they are
// part of takes changes as before.
// Source: openstack/octavia, controller/worker/v2/tasks/lifecycle_tasks.py
// (ListenerToErrorOnRevertTask, PoolToErrorOnRevertTask, MembersToErrorOnRevertTask).
func (s *state) failParts(id, at string) {
	for _, c := range []collection{members, monitors, listeners, pools} {
		failed := false
		for _, o := range s.Having(c, "loadbalancer", id) {
			if strings.HasPrefix(o.Text(provisioning), "PENDING_") {
				s.Change(c, o.Text("id"), finishChange(o, broken, broken, at))
				failed = true
			}
		}
		if failed {
			return
		}
	}
}

// finishChange returns what changes in an object at the end of a change.
func finishChange(o Object, status, end, at string) Object {
	out := Object{provisioning: status, "updated_at": at}
	if end == active && o.Text(operating) != unmonitored {
		out[operating] = online
	}
	return out
}

// StopForwarding lets a load balancer pass nothing on any more, as one whose amphorae have
// lost what they were configured with. The provisioning status stays.
// Source: openstack/octavia, amphorae/drivers/health/heartbeat_udp.py.
func (c *Cloud) StopForwarding(id string) {
	c.Locked(func() {
		c.Live.Change(balancers, id, Object{operating: offline})
		for _, part := range []collection{listeners, pools} {
			for _, o := range c.Live.Having(part, "loadbalancer", id) {
				c.Live.Change(part, o.Text("id"), Object{operating: offline})
			}
		}
	})
}

// FailOver does what an administrator does to a load balancer in ERROR.
func (c *Cloud) FailOver(id string) {
	c.Locked(func() { c.Live.settleOne(id, active, formatTime(c.Clock.Now())) })
}

// dropPart takes a part of a load balancer away, and the words of others for it.
func (s *state) dropPart(c collection, o Object) {
	s.Drop(c, o.Text("id"))
	if c == monitors {
		s.Change(pools, o.Text("pool"), Object{"healthmonitor_id": ""})
	}
	for _, l := range s.Having(listeners, "default_pool_id", o.Text("id")) {
		s.Change(listeners, l.Text("id"), Object{"default_pool_id": nil})
	}
}

// removeBalancer takes a load balancer away with all below it, and the port that
// Octavia made for it.
func (s *state) removeBalancer(lb Object) {
	id := lb.Text("id")
	for _, c := range []collection{listeners, pools, members, monitors} {
		for _, o := range s.Having(c, "loadbalancer", id) {
			s.Drop(c, o.Text("id"))
		}
	}
	s.Drop(balancers, id)
	if port, ok := s.Get(ports, lb.Text("vip_port_id")); ok && port.Text("device_owner") == "Octavia" {
		s.removePort(port.Text("id"))
	}
}

// mutable refuses a change below a load balancer that is busy or broken.
func (v *visit) mutable(id string) (Object, error) {
	lb, ok := v.State.Get(balancers, id)
	if !ok {
		return nil, notFound("Load Balancer", id)
	}
	if lb.Text(provisioning) != active {
		return nil, immutableObject("Load Balancer", id)
	}
	return lb, nil
}

// showBalancer is a load balancer as the API answers it.
func showBalancer(s *state, lb Object) Object {
	id := lb.Text("id")
	out := lb.With(Object{"listeners": s.idsBelow(listeners, id), "pools": s.idsBelow(pools, id)})
	delete(out, "graph")
	return out
}

// showZone leaves the id out: zones have names only.
func showZone(_ *state, zone Object) Object { return publicFields(zone, "id") }

func (s *state) idsBelow(c collection, lb string) []any {
	out := []string{}
	for _, o := range s.Having(c, "loadbalancer", lb) {
		out = append(out, o.Text("id"))
	}
	return idRefs(out)
}

func updateBalancer(v *visit) (any, error) {
	lb, ok := v.State.Get(balancers, v.Params["id"])
	if !ok {
		return nil, notFound("Load Balancer", v.Params["id"])
	}
	if err := v.idle(lb, active); err != nil {
		return nil, err
	}
	id := lb.Text("id")
	changes := v.Body.Object("loadbalancer").Only("name", "description", "tags", "admin_state_up", "vip_qos_policy_id")
	if err := checkName(changes); err != nil {
		return nil, err
	}
	v.State.Change(balancers, id, changes)
	v.touch(id, pendingUpdate)
	lb, _ = v.State.Get(balancers, id)
	return Object{"loadbalancer": showBalancer(v.State, lb)}, nil
}

// idle refuses a change of a load balancer itself unless it is in one of the states.
// Source: a real Octavia, which words it otherwise than for what is below.
func (v *visit) idle(lb Object, in ...string) error {
	if now := lb.Text(provisioning); !slices.Contains(in, now) {
		return rest.Refuse(http.StatusConflict, "LBPendingStateError", "Invalid state %s of loadbalancer resource %s", now, lb.Text("id"))
	}
	return nil
}

// failoverBalancer recreates a load balancer, also one in ERROR, where its driver can. Only
// administrators may.
// Sources: openstack/ovn-octavia-provider, driver.py, which has no failover; a real
// Octavia.
func failoverBalancer(v *visit) (any, error) {
	if !v.cloud.opt.Administrator {
		return nil, rest.Refuse(http.StatusForbidden, "PolicyForbidden", "Policy does not allow this request to be performed.")
	}
	lb, ok := v.State.Get(balancers, v.Params["id"])
	if !ok {
		return nil, notFound("Load Balancer", v.Params["id"])
	}
	if err := v.idle(lb, active, broken); err != nil {
		return nil, err
	}
	if lb.Text("provider") == "ovn" {
		return nil, rest.Refuse(http.StatusNotImplemented, "ProviderNotImplementedError", "Provider 'ovn' does not support a requested action: This provider does not support failing over load balancers.")
	}
	v.touch(lb.Text("id"), pendingUpdate)
	return nil, nil
}

func deleteBalancer(v *visit) (any, error) {
	lb, ok := v.State.Get(balancers, v.Params["id"])
	if !ok {
		return nil, notFound("Load Balancer", v.Params["id"])
	}
	id := lb.Text("id")
	if v.HTTP.URL.Query().Get("cascade") != "true" && len(v.State.idsBelow(listeners, id))+len(v.State.idsBelow(pools, id)) > 0 {
		return nil, validationFailure("Cannot delete Load Balancer %s - it has children", id)
	}
	if err := v.idle(lb, active, broken); err != nil {
		return nil, err
	}
	v.touch(id, pendingDelete)
	return nil, nil
}

// balancerStatus returns the tree of all objects below a load balancer, in short form.
func balancerStatus(v *visit) (any, error) {
	lb, ok := v.State.Get(balancers, v.Params["id"])
	if !ok {
		return nil, notFound("Load Balancer", v.Params["id"])
	}
	brief := func(o Object, more ...string) Object {
		return o.Only(append([]string{"id", "name", provisioning, operating}, more...)...)
	}
	poolTree := func(p Object) Object {
		out := brief(p)
		all := []any{}
		for _, m := range v.State.Having(members, "pool", p.Text("id")) {
			all = append(all, brief(m, "address", "protocol_port"))
		}
		out["members"] = all
		if m, ok := v.State.Get(monitors, p.Text("healthmonitor_id")); ok {
			out["health_monitor"] = brief(m, "type")
		}
		return out
	}
	tree := brief(lb)
	below, free := []any{}, []any{}
	for _, l := range v.State.Having(listeners, "loadbalancer", lb.Text("id")) {
		out, inner := brief(l), []any{}
		if p, ok := v.State.Get(pools, l.Text("default_pool_id")); ok {
			inner = append(inner, poolTree(p))
		}
		out["pools"] = inner
		below = append(below, out)
	}
	for _, p := range v.State.Having(pools, "loadbalancer", lb.Text("id")) {
		if len(v.State.Having(listeners, "default_pool_id", p.Text("id"))) == 0 {
			free = append(free, poolTree(p))
		}
	}
	tree["listeners"] = below
	if len(free) > 0 {
		tree["pools"] = free
	}
	return Object{"statuses": Object{"loadbalancer": tree}}, nil
}
