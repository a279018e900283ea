package wire

import (
	"cmp"
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func createBackend(c *change, spec model.Backend) plan.Outcome {
	b := &computepb.BackendService{Name: &spec.Name, LoadBalancingScheme: &spec.Scheme, Network: optionalText(c.urlOf(spec.Network))}
	for _, field := range []string{"Description", "Protocol", "Affinity", "Checks", "Groups", "Draining", "Locality", "ZoneAffinity", "Tracking", "Log"} {
		c.putField(b, spec, plan.Change{Field: field})
	}
	err := writeAndWait(c.Ctx, c.Session, c.backendAPI.Insert, &computepb.InsertRegionBackendServiceRequest{BackendServiceResource: b})
	if c.shared() && fault.Is(err, fault.Exists) {
		return c.foundBackend(spec)
	}
	if err != nil {
		c.noteCrowded(err)
		return kit.Failed(err)
	}
	if len(spec.Groups) > 0 {
		spec.Balancing = model.BalancingConnection // what the cloud says of all of them
	}
	return c.Created(c.path(model.KindBackend, spec.Name), stack.Name, spec)
}

// foundBackend is the outcome of making a shared one that another process has
// made meanwhile; what differs the next plan shows.
func (c *change) foundBackend(spec model.Backend) plan.Outcome {
	found, err := c.getBackend(spec.Name)
	if err != nil {
		return kit.Failed(err)
	}
	v := c.viewOf(slices.Concat(spec.Checks, spec.Groups))
	return c.Created(c.path(model.KindBackend, spec.Name), stack.Name, v.backendOf(found, c.config.Network))
}

// viewOf is a view in which the references lead to what they say.
func (c *change) viewOf(refs []stack.Ref) *view {
	v := &view{keys: map[string]stack.Key{}}
	for _, r := range refs {
		if r.ID == "" {
			v.keys[c.Batch.ID(c.Step, r)] = r.To
		}
	}
	return v
}

func (c *change) getBackend(name string) (*computepb.BackendService, error) {
	return readCall(c.Ctx, c.backendAPI.Get, &computepb.GetRegionBackendServiceRequest{Project: c.config.Project, Region: c.config.Region, BackendService: name})
}

// updateBackend puts the fields that differ into the object as it is now and writes it
// back with its fingerprint. Fields that are not ours are written as they were. After a
// concurrent write the object is read again.
func updateBackend(c *change, spec model.Backend) plan.Outcome {
	var err error
	for range mergeTries {
		var b *computepb.BackendService
		if b, err = c.getBackend(spec.Name); err != nil {
			return kit.Failed(err)
		}
		for _, ch := range c.Step.Changes {
			c.putField(b, spec, ch)
		}
		err = writeAndWait(c.Ctx, c.Session, c.backendAPI.Update, &computepb.UpdateRegionBackendServiceRequest{BackendService: spec.Name, BackendServiceResource: b})
		if !fault.Is(err, fault.Conflict) {
			break
		}
	}
	c.noteCrowded(err)
	return c.Updated(spec, err)
}

// noteCrowded has machines looked up that are in groups of other load balancers; no
// other refusal of a backend service says anything of machines.
func (c *change) noteCrowded(err error) {
	if err != nil && isCrowded(err) {
		c.doubts.note(err)
	}
}

// putField writes one field of ours.
//
//nolint:gocyclo // One case per field, each of a line or two.
func (c *change) putField(b *computepb.BackendService, spec model.Backend, ch plan.Change) {
	switch ch.Field {
	case "Description":
		b.Description = &spec.Description
	case "Protocol":
		b.Protocol = &spec.Protocol
		c.putField(b, spec, plan.Change{Field: "Draining"})
	case "Affinity":
		b.SessionAffinity = &spec.Affinity
	case "Checks":
		b.HealthChecks = c.links(spec.Checks)
	case "Groups":
		b.Backends = c.backends(b.GetBackends(), spec, ch)
	case "Balancing":
		for _, one := range b.GetBackends() {
			one.BalancingMode = optionalText(spec.Balancing)
		}
	case "Draining":
		if spec.Draining > 0 || b.GetConnectionDraining().GetDrainingTimeoutSec() > 0 {
			b.ConnectionDraining = &computepb.ConnectionDraining{DrainingTimeoutSec: new(int32(spec.Draining))}
		}
	case "Locality":
		b.LocalityLbPolicy = localityOf(spec.Locality, b.LocalityLbPolicy)
	case "ZoneAffinity":
		if spec.ZoneAffinity != "" {
			b.NetworkPassThroughLbTrafficPolicy = &computepb.BackendServiceNetworkPassThroughLbTrafficPolicy{
				ZonalAffinity: &computepb.BackendServiceNetworkPassThroughLbTrafficPolicyZonalAffinity{Spillover: &spec.ZoneAffinity},
			}
		}
	case "Tracking":
		if t := spec.Tracking; t != nil {
			b.ConnectionTrackingPolicy = &computepb.BackendServiceConnectionTrackingPolicy{
				TrackingMode: optionalText(t.Mode), EnableStrongAffinity: &t.Strong, IdleTimeoutSec: orNil(t.IdleTimeout),
			}
		}
	case "Log":
		b.LogConfig = cmp.Or(logOf(spec.Log), b.LogConfig)
	}
}

// localityOf is what to write: the plain way of internal load balancers has a name
// in answers, but cannot be asked for by it; it is what they do without a word.
// Source: cloud.google.com/go/compute/apiv1/computepb (BackendService.LocalityLbPolicy).
func localityOf(wanted string, found *string) *string {
	switch wanted {
	case "":
		return found
	case model.LocalityRendezvous:
		return nil
	}
	return &wanted
}

func logOf(l *model.Logging) *computepb.BackendServiceLogConfig {
	if l == nil {
		return nil
	}
	out := &computepb.BackendServiceLogConfig{Enable: &l.Enable, OptionalMode: optionalText(l.Mode), OptionalFields: l.Fields}
	if l.Enable {
		out.SampleRate = new(float32(l.Rate))
	}
	return out
}

// backends are the desired groups, each with the existing values if it exists. A change
// that names members touches only those.
func (c *change) backends(found []*computepb.Backend, spec model.Backend, ch plan.Change) []*computepb.Backend {
	wanted := c.links(spec.Groups)
	if len(ch.Added)+len(ch.Removed) > 0 {
		wanted = nil
		removed := c.linksOf(ch.Removed)
		for _, b := range found {
			if !slices.ContainsFunc(removed, func(url string) bool { return model.PathOf(url) == model.PathOf(b.GetGroup()) }) {
				wanted = append(wanted, b.GetGroup())
			}
		}
		wanted = append(wanted, c.linksOf(ch.Added)...)
	}
	var out []*computepb.Backend
	for _, url := range wanted {
		same := func(b *computepb.Backend) bool { return model.PathOf(b.GetGroup()) == model.PathOf(url) }
		switch i := slices.IndexFunc(found, same); {
		case slices.ContainsFunc(out, same):
		case i >= 0:
			out = append(out, found[i])
		default:
			out = append(out, &computepb.Backend{Group: new(url), BalancingMode: optionalText(spec.Balancing)})
		}
	}
	return out
}

// linksOf are the URLs of members that are references.
func (c *change) linksOf(list []any) []string {
	var out []string
	for _, m := range list {
		if r, ok := m.(stack.Ref); ok {
			out = append(out, c.link(r))
		}
	}
	return out
}

func deleteBackend(c *change) plan.Outcome {
	return kit.Deleted(writeAndWait(c.Ctx, c.Session, c.backendAPI.Delete, &computepb.DeleteRegionBackendServiceRequest{BackendService: c.name()}))
}
