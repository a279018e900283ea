package wire

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// graph is the response to a creation, with all created parts.
type graph struct {
	ID                 string          `json:"id"`
	ProvisioningStatus string          `json:"provisioning_status"`
	VipAddress         string          `json:"vip_address"`
	VipPortID          string          `json:"vip_port_id"`
	VipSubnetID        string          `json:"vip_subnet_id"`
	VipNetworkID       string          `json:"vip_network_id"`
	Listeners          []graphListener `json:"listeners"`
}

type graphListener struct {
	ID       string `json:"id"`
	Protocol string `json:"protocol"`
	Port     int32  `json:"protocol_port"`
	Pool     string `json:"default_pool_id"`
}

// createBalancer creates a load balancer with all parts of the step in one call. A load
// balancer that ends in ERROR before it ever served is deleted.
func createBalancer(c *change, spec model.Balancer) plan.Outcome {
	s := c.Session
	body := model.BalancerCodec().Create(spec, nil)
	if tree := model.ListenerTree(c.Step.With); !s.config.Serial && len(tree) > 0 {
		body["listeners"] = tree
	}
	var answer struct {
		Balancer graph `json:"loadbalancer"`
	}
	err := s.write(c.Ctx, createCall(s, model.BalancerCodec(), body), &answer)
	made := answer.Balancer
	if err != nil {
		return kit.Failed(withWish(err, "lb-provider", spec.Provider, "network-id", spec.Network, "subnet-id", spec.Subnet, "port-id", spec.Port,
			"loadBalancerIP", spec.Address, "flavor-id", spec.Flavor, "availability-zone", spec.Zone))
	}
	s.ports.Set(made.ID, made.VipPortID)
	if made.ProvisioningStatus != active {
		if err := s.ready(c.Ctx, made.ID); err != nil {
			return s.undo(c, made.ID, err)
		}
	}
	spec.Address, spec.Port, spec.Subnet, spec.Network = made.VipAddress, made.VipPortID, made.VipSubnetID, made.VipNetworkID
	o := c.Created(made.ID, stack.Name, spec)
	if !s.config.Serial {
		o.Parts = s.partsOf(c, made)
		return o
	}
	if o.Parts, err = s.partByPart(c, made.ID); err != nil {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	return o
}

// partByPart makes what the step brings below a new load balancer, for drivers that take
// no tree. What is missing after a failure, the next plan adds.
func (s *Session) partByPart(c *change, balancer string) ([]stack.Resource, error) {
	var out []stack.Resource
	for _, r := range c.Step.With {
		spec, ok := r.Spec.(model.Listener)
		if !ok {
			continue
		}
		pool, _ := model.PartOf[model.Pool](c.Step.With, spec.Pool.To)
		within := slices.DeleteFunc(slices.Clone(c.Step.With), func(part stack.Resource) bool { return part.In != spec.Pool.To })
		id, parts, err := s.postPool(c.Ctx, balancer, pool, within)
		if err != nil {
			return nil, err
		}
		out = append(append(out, parts...), stack.Resource{Key: spec.Pool.To, In: r.In, ID: id, Proof: stack.Derived, Spec: pool})
		if r.ID, err = s.postListener(c.Ctx, balancer, id, spec); err != nil {
			return nil, err
		}
		r.Proof = stack.Tag
		out = append(out, r)
	}
	return out, nil
}

// withWish adds to what the cloud refused as wrong what it was asked for, as pairs of keys
// and values.
func withWish(err error, pairs ...string) error {
	var f *fault.Fault
	if !errors.As(err, &f) || f.Meaning != fault.Invalid && f.Meaning != fault.NotFound {
		return err
	}
	var said []string
	for pair := range slices.Chunk(pairs, 2) {
		if key, value := pair[0], pair[len(pair)-1]; value != "" {
			said = append(said, key+" "+value)
		}
	}
	return f.With(fault.Invalid, "; asked for "+strings.Join(said, ", "))
}

// undo removes a load balancer whose creation ended in ERROR. If the wait for it was cut
// short, it stays and is found by its name.
func (s *Session) undo(c *change, id string, cause error) plan.Outcome {
	status, err := s.statusOf(c.Ctx, id)
	if err != nil || status != failed {
		return plan.Outcome{Err: cause, Sent: plan.MaybeSent}
	}
	_ = s.removeBalancer(c.Ctx, id) // remains are found by name
	return plan.Outcome{Err: cause, Sent: plan.MaybeSent}
}

// partsOf are the identifiers of what was made in the same call.
func (s *Session) partsOf(c *change, made graph) []stack.Resource {
	ids, checks := map[stack.Key]string{}, s.checksOf(c, made.ID)
	for _, l := range made.Listeners {
		key := model.PortKey(l.Protocol, l.Port)
		ids[stack.Key{Kind: model.KindListener, Name: key}] = l.ID
		ids[stack.Key{Kind: model.KindPool, Name: key}] = l.Pool
		ids[stack.Key{Kind: model.KindMembers, Name: key}] = l.Pool
		ids[stack.Key{Kind: model.KindMonitor, Name: key}] = checks[l.Pool]
	}
	var out []stack.Resource
	for _, r := range c.Step.With {
		r.ID, r.Proof = ids[r.Key], stack.Derived
		out = append(out, r)
	}
	return out
}

// checksOf are the identifiers of the health checks of a new load balancer, by pool. The
// answer to its creation does not tell them, so that one list is read; what that does
// not bring is looked up when it is needed, see monitorOf.
func (s *Session) checksOf(c *change, balancer string) map[string]string {
	out := map[string]string{}
	if !slices.ContainsFunc(c.Step.With, func(r stack.Resource) bool { return r.Key.Kind == model.KindMonitor }) {
		return out
	}
	found, _ := listItems(c.Ctx, s, model.PoolCodec(), url.Values{"loadbalancer_id": {balancer}})
	for _, p := range found {
		out[p.ID] = p.Monitor
	}
	return out
}

// updateBalancer updates name, description and tags. It retains tags of others, except the
// ones that the load balancer had under an earlier name of the cluster.
func updateBalancer(c *change, spec model.Balancer) plan.Outcome {
	s, id, o := c.Session, c.Step.Target.ID, c.Step.ID.Owner
	err := s.exclusive(c.Ctx, id, func(lb balancer) error {
		tags := slices.DeleteFunc(slices.Clone(lb.Tags), func(t string) bool { return t == lb.Spec.Name && model.Renamed(t, o) })
		for _, tag := range spec.Tags {
			if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		spec.Tags = tags
		return s.updateBalancer(c.Ctx, id, spec, c.Changed()...)
	})
	return c.Updated(spec, err)
}

// failOver fails over a load balancer in ERROR. By Octavia's default policies only
// administrators may do so; then the next plan keeps the load balancer, or replaces it if it
// forwards nothing. The refusal is therefore Ambiguous, so that the state is read again.
// Source: openstack/octavia, octavia/policies/loadbalancer.py (put_failover).
func failOver(c *change, spec model.Balancer) plan.Outcome {
	s, id := c.Session, c.Step.Target.ID
	err := s.change(c.Ctx, id, callAbout(s, http.MethodPut, model.BalancerCodec(), id, failover), nil)
	if fault.Is(err, fault.Denied) {
		s.denied.Set(failover, true)
		err = &fault.Fault{Meaning: fault.Ambiguous, Code: failed, Err: err, Text: "the load balancer " + id +
			" is in ERROR, and the cloud allows its failover to administrators only; the next plan replaces it if it forwards nothing"}
	}
	return c.Updated(spec, err)
}

// exclusive changes a load balancer by what it is at the moment, one at a time.
func (s *Session) exclusive(ctx context.Context, id string, f func(balancer) error) error {
	unlock, err := s.locks.Take(ctx, "tags of "+id)
	if err != nil {
		return err
	}
	defer unlock()
	lb, err := s.getBalancer(ctx, id)
	if err != nil {
		return err
	}
	return f(lb)
}

// updateBalancer updates the changed fields of a load balancer.
func (s *Session) updateBalancer(ctx context.Context, id string, spec model.Balancer, changed ...string) error {
	defer s.users.known.Forget(id)
	kind := model.BalancerCodec()
	return s.change(ctx, id, updateCall(s, kind, id, kind.Update(spec, changed, nil)), nil)
}

// tagsTries is how often a list of tags is read and written again after a conflicting
// change.
const tagsTries = 3

// retag changes the tags of a load balancer, of which others have some: it reads, writes
// and reads again, since the API has no way to say what the list was.
func (s *Session) retag(ctx context.Context, id, tag string, there bool) error {
	for range tagsTries {
		done := false
		err := s.exclusive(ctx, id, func(lb balancer) error {
			if done = slices.Contains(lb.Tags, tag) == there; done {
				return nil
			}
			if others := model.OtherTags(lb.Tags, tag); there && len(others) >= s.config.MaxShared {
				return fault.New(fault.Conflict, "load balancer %s has been given to other Services meanwhile, as many as max-shared-lb allows", id)
			}
			if !there && strings.HasPrefix(lb.Spec.Name, model.OwnPrefix) && len(model.OtherTags(lb.Tags, tag)) == 0 {
				// All other Services were deleted since the plan was computed. Without the
				// tag the load balancer would be orphaned; with it the next plan deletes
				// everything.
				return fault.New(fault.Conflict, "load balancer %s is used by no other Service any more, and is deleted", id)
			}
			tags := append([]string{}, slices.DeleteFunc(slices.Clone(lb.Tags), func(t string) bool { return t == tag })...)
			if there {
				tags = append(tags, tag)
			}
			return s.updateBalancer(ctx, id, model.Balancer{Tags: tags}, "Tags")
		})
		if err != nil || done {
			return err
		}
	}
	return fault.New(fault.Conflict, "the tags of load balancer %s are changed by others again and again", id)
}

func joinBalancer(c *change, spec model.Share) plan.Outcome {
	s := c.Session
	err := s.mayTake(c, spec.Balancer, s.claimedPorts(c.Step.ID.Owner, spec.Balancer)...)
	if err == nil {
		err = s.retag(c.Ctx, spec.Balancer, spec.Tag, true)
	}
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(spec.Balancer, stack.Tag, spec)
}

// leaveBalancer removes a Service from the users of a shared load balancer. If the Service
// created it, the other users own the load balancer and its addresses from now on.
func leaveBalancer(c *change, spec model.Share) plan.Outcome {
	c.Session.claims.Forget(c.Step.ID.Owner)
	out := kit.Deleted(c.Session.retag(c.Ctx, spec.Balancer, spec.Tag, false))
	out.Gone = model.Handed()
	return out
}

// deleteBalancer deletes a load balancer, unless others have begun to use it.
func deleteBalancer(c *change) plan.Outcome {
	s, id := c.Session, c.Step.Target.ID
	unlock, err := s.locks.Take(c.Ctx, "tags of "+id)
	if err != nil {
		return kit.Failed(err)
	}
	defer unlock()
	if err = s.alone(c, id); err == nil {
		err = s.removeBalancer(c.Ctx, id)
	}
	if err == nil {
		s.ports.Forget(id)
	}
	out := kit.Deleted(err)
	out.Gone = model.OnBalancer()
	return out
}

// alone is a Conflict if others than the step's Service use a load balancer. What they
// do cannot be known from what was read before: they may be of other clusters.
func (s *Session) alone(c *change, balancer string) error {
	if balancer == "" || !s.config.Features.Tags {
		return nil
	}
	text, err := s.users.describe(c.Ctx, balancer)
	if err != nil {
		return err
	}
	name, tags, _ := strings.Cut(text, "\n")
	o := c.Step.ID.Owner
	for _, tag := range model.OtherTags(strings.Split(tags, "\n"), model.BalancerName(s.cluster, o)) {
		if tag != name || !model.Renamed(tag, o) {
			return fault.New(fault.Conflict, "load balancer %s is used by %s as well, and stays", balancer, tag)
		}
	}
	return nil
}

// removeBalancer deletes a load balancer with all its parts and waits until it is deleted.
// Where the configuration forbids cascading deletion, the parts are deleted first.
func (s *Session) removeBalancer(ctx context.Context, id string) error {
	call := deleteCall(s, model.BalancerCodec(), id)
	if !s.config.NoCascade {
		call.url += "?cascade=true"
	} else if err := s.clear(ctx, id); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	err := s.change(ctx, id, call, nil)
	if fault.Is(err, fault.NotFound) {
		return nil // already deleted
	}
	return err
}

// clear deletes all parts of a load balancer, one after the other.
func (s *Session) clear(ctx context.Context, id string) error {
	lb, err := s.getBalancer(ctx, id)
	if err != nil {
		return err
	}
	var calls []request
	for _, l := range lb.Listeners {
		calls = append(calls, deleteCall(s, model.ListenerCodec(), l.ID))
	}
	for _, p := range lb.Pools {
		calls = append(calls, deleteCall(s, model.PoolCodec(), p.ID))
	}
	for _, call := range calls {
		if err := s.change(ctx, id, call, nil); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}
