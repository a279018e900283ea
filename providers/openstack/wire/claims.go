package wire

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// claimAge is how long it is remembered what a Service has asked for: as long as it may
// take to make it. Afterwards what is in the cloud decides.
const claimAge = time.Minute

// claims is which Services ask for which ports of load balancers that they name. Of those
// of other clusters it knows nothing: what these ask for, their pools say; see mayListen.
type claims struct {
	mu  sync.Mutex
	all map[stack.Owner]wishes
}

// wishes are what one Service asks for.
type wishes struct {
	ports map[string]model.Claim // by port of a load balancer
	at    time.Time
}

// enter takes what Services ask for in the place of what they have asked for before.
func (c *claims) enter(scopes []providers.Scope, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sc := range scopes {
		ports := map[string]model.Claim{}
		for _, l := range sc.Facts {
			if l.Kind == model.FactClaim {
				key, claim := model.ClaimOf(l, sc.Owner)
				ports[key] = claim
			}
		}
		if len(ports) == 0 {
			delete(c.all, sc.Owner)
			continue
		}
		c.all[sc.Owner] = wishes{ports: ports, at: now}
	}
}

// leave ends what a Service has asked for.
func (c *claims) leave(o stack.Owner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, o)
}

// oldest is the oldest claim to a port.
func (c *claims) oldest(key string, now time.Time) (out model.Claim, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.all {
		claim, asks := a.ports[key]
		if asks && now.Sub(a.at) < claimAge && (!ok || claim.Older(out)) {
			out, ok = claim, true
		}
	}
	return out, ok
}

// ports are those of a load balancer that a Service asks for.
func (c *claims) ports(o stack.Owner, balancer string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.all[o].ports {
		if port, is := strings.CutPrefix(key, model.ClaimKey(balancer, "")); is {
			out = append(out, port)
		}
	}
	return out
}

// mayTake is a Conflict if an older Service asks for a port of a load balancer as well that
// the step's Service has not got yet: it may have come after the plan was made.
func (s *Session) mayTake(c *change, balancer string, ports ...string) error {
	for _, port := range ports {
		o, known := s.claims.oldest(model.ClaimKey(balancer, port), s.now())
		if known && o.Owner != c.Step.ID.Owner {
			return fault.New(fault.Conflict, "port %s of load balancer %s is asked for by Service %s as well, which is older", port, balancer, o.Owner)
		}
	}
	return nil
}

// mayListen is a Conflict if an older Service, of whichever cluster, asks for the port of a
// new listener as well: it has made a pool for it that has no listener yet.
func (s *Session) mayListen(ctx context.Context, balancer string, spec model.Listener) error {
	if spec.Claim == "" {
		return nil
	}
	all, err := listItems(ctx, s, model.PoolCodec(), url.Values{"loadbalancer_id": {balancer}})
	if err != nil {
		return err
	}
	var claims []string
	for _, p := range all {
		if len(p.Listeners) == 0 {
			claims = append(claims, p.Tags...)
		}
	}
	if name := model.YieldsTo(spec.Claim, claims, s.now()); name != "" {
		return fault.New(fault.Conflict, "port %d of load balancer %s is asked for by %s as well, which is older", spec.Port, balancer, name)
	}
	return nil
}
