package wire

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// claimAge is how long it is remembered what a Service has asked for: as long as it may
// take to make it. Afterwards what is in the cloud decides.
const claimAge = time.Minute

// enterClaims records which ports of the load balancers that they name Services ask for, in
// place of what each has asked for before. Those of other clusters are not known: what these ask
// for, their pools say; see mayListen.
func (s *Session) enterClaims(scopes []providers.Scope) {
	for _, sc := range scopes {
		ports := map[string]model.Claim{}
		for _, l := range sc.Facts {
			if l.Kind == model.FactClaim {
				key, claim := model.ClaimOf(l, sc.Owner)
				ports[key] = claim
			}
		}
		if len(ports) == 0 {
			s.claims.Forget(sc.Owner)
			continue
		}
		s.claims.Set(sc.Owner, ports)
	}
}

// oldestClaim returns the oldest claim to a port.
func (s *Session) oldestClaim(key string) (out model.Claim, ok bool) {
	for _, ports := range s.claims.All(claimAge) {
		if claim, asks := ports[key]; asks && (!ok || claim.Older(out)) {
			out, ok = claim, true
		}
	}
	return out, ok
}

// claimedPorts returns the ports of a load balancer that a Service asks for.
func (s *Session) claimedPorts(o stack.Owner, balancer string) (out []string) {
	claims, _ := s.claims.Get(o, 0)
	for key := range claims {
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
		o, known := s.oldestClaim(model.ClaimKey(balancer, port))
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
