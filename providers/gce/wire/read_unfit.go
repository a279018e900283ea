package wire

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
)

const (
	// unfitAge is how long it is believed which machines cannot be members, as long as
	// there are any.
	unfitAge = time.Minute
	// codeCrowded refuses an instance in two groups that have load balancers.
	// Source: Cloud Load Balancing documentation, instance groups, restrictions.
	codeCrowded = "instanceinmultipleloadbalancedigs"

	whyMissing = "have no instance that Compute Engine knows"
	whyStopped = "have an instance that is stopped"
)

// doubts are what refusals of the cloud say of machines: only then are they looked up,
// so that it costs nothing as long as all can be members. It is safe for concurrent use.
type doubts struct {
	mu       sync.Mutex
	machines bool // some do not exist, or are stopped
	crowded  bool // some are in groups of other load balancers
	unfit    kit.Aged[map[string]string]
	suspects fault.Suspects
}

// note learns from a refusal; nil is none.
func (d *doubts) note(err error) {
	if err == nil {
		return
	}
	crowded := isCrowded(err)
	if !crowded && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	known := &d.machines
	if crowded {
		known = &d.crowded
	}
	if !*known {
		d.unfit.Forget()
	}
	*known = true
}

func isCrowded(err error) bool {
	f, ok := asFault(err)
	return ok && strings.ToLower(strings.ReplaceAll(f.Code, "_", "")) == codeCrowded
}

// open tells what is in doubt.
func (d *doubts) open() (machines, crowded bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machines, d.crowded
}

// narrow ends doubts of which nothing is left.
func (d *doubts) narrow(found map[string]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.machines, d.crowded = false, false
	for _, why := range found {
		d.crowded = d.crowded || why == model.WhyCrowded
		d.machines = d.machines || why != model.WhyCrowded
	}
}

// learnUnfit returns the machines of the scopes that cannot be members, with the
// reason, if there is a doubt.
func (r *read) learnUnfit() (map[string]string, error) {
	machines, crowded := r.doubts.open()
	if !machines && !crowded {
		return nil, nil
	}
	return r.doubts.unfit.Get(r.ctx, r.now(), unfitAge, func(ctx context.Context) (map[string]string, error) {
		out := map[string]string{}
		if machines {
			r.facts.instances.Forget()
			known, err := r.learnInstances()
			if err != nil {
				return nil, err
			}
			r.missing(known, out)
		}
		if crowded {
			if err := r.crowded(ctx, out); err != nil {
				return nil, err
			}
		}
		r.doubts.narrow(out)
		return out, nil
	})
}

// missing adds the machines of nodes in managed zones that do not exist, or are stopped.
func (r *read) missing(known map[string]model.Instance, out map[string]string) {
	for _, scope := range r.scopes {
		for n := range scope.Nodes.All() {
			m := model.MemberOf(n)
			if !slices.Contains(r.zones, m.Zone) {
				continue
			}
			switch i, there := known[m.Instance]; {
			case !there:
				out[m.Instance] = whyMissing
			case i.Stopped:
				out[m.Instance] = whyStopped
			}
		}
	}
}

// crowded adds the members of instance groups that backend services refer to and that
// are not ours.
func (r *read) crowded(ctx context.Context, out map[string]string) error {
	groups := map[string]bool{}
	it := beginList(ctx, r.Session, r.allBackendAPI.AggregatedList, &computepb.AggregatedListBackendServicesRequest{})
	err := eachComplete(it.Next, func(p compute.BackendServicesScopedListPair) {
		for _, b := range p.Value.GetBackendServices() {
			for _, url := range groupsOf(b) {
				path := model.PathOf(url)
				region, err := model.RegionOf(model.ZoneOf(path))
				ours := strings.HasPrefix(model.LastOf(path), r.config.GroupName(model.InternalIG))
				if strings.Contains(path, "/instanceGroups/") && err == nil && region == r.config.Region && !ours {
					groups[path] = true
				}
			}
		}
	})
	if err != nil {
		return err
	}
	for group := range groups {
		names, err := r.membersOf(ctx, group)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		for _, name := range names {
			out[name] = model.WhyCrowded
		}
	}
	return nil
}
