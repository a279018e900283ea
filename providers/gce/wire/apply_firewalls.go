package wire

import (
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func createFirewall(c *change, spec model.Firewall) plan.Outcome {
	spec, err := c.withAddress(spec)
	if err != nil {
		return kit.Failed(err)
	}
	f := &computepb.Firewall{
		Name: &spec.Name, Description: optionalText(spec.Description), Network: optionalText(c.urlOf(spec.Network)),
		Direction: new(computepb.Firewall_INGRESS.String()), Allowed: wireAllowed(spec.Allowed), Denied: wireDenied(spec.Denied),
		SourceRanges: spec.Sources, DestinationRanges: firewallDestinations(spec), TargetTags: spec.Tags, Priority: firewallPriority(spec),
	}
	err = writeAndWait(c.Ctx, c.Session, c.firewallAPI.Insert, &computepb.InsertFirewallRequest{Project: c.config.HostProject(), FirewallResource: f})
	if c.shared() && fault.Is(err, fault.Exists) {
		var found *computepb.Firewall
		if found, err = readCall(c.Ctx, c.firewallAPI.Get, &computepb.GetFirewallRequest{Project: c.config.HostProject(), Firewall: spec.Name}); err == nil {
			spec = firewallOf(found)
		}
	}
	made := c.Created(c.path(model.KindFirewall, spec.Name), c.proofOf(spec), spec)
	switch {
	case c.lacksRights(err):
		made.Manual = c.manualAction("create", spec)
	case err != nil:
		return kit.Failed(err)
	}
	return made
}

// lacksRights reports whether a firewall is refused because the network is another
// project's: the rest of the load balancer continues, and an administrator of that
// project creates the firewall. In the own project the refusal is a fault.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_external.go.
func (c *change) lacksRights(err error) bool {
	return fault.Is(err, fault.Denied) && c.config.HostProject() != c.config.Project
}

// manualAction returns the manual action for the administrator.
func (c *change) manualAction(verb string, spec model.Firewall) string {
	project := c.config.HostProject()
	return "an administrator of project " + project + " has to run: " + spec.Command(verb, project)
}

// proofOf is what a read would find: of names that several Services may have, the
// description.
func (c *change) proofOf(spec model.Firewall) stack.Proof {
	if n := knownNames(c.config, c.Step.ID.Owner)[nameID{c.Step.ID.Key.Kind, spec.Name}]; n.Ambiguous {
		return stack.Description
	}
	return stack.Name
}

// withAddress puts in the IP of a forwarding rule that did not exist when the plan was
// computed.
func (c *change) withAddress(spec model.Firewall) (model.Firewall, error) {
	if spec.Destination.ID != "" || spec.Destination.IsZero() {
		return spec, nil
	}
	ip, err := c.placeOfRule(c.Batch.ID(c.Step, spec.Destination))
	if err != nil {
		return spec, err
	}
	return spec.At(ip), nil
}

// updateFirewall patches the fields that differ.
func updateFirewall(c *change, spec model.Firewall) plan.Outcome {
	spec, err := c.withAddress(spec)
	if err != nil {
		return kit.Failed(err)
	}
	f := &computepb.Firewall{Name: &spec.Name}
	for _, ch := range c.Step.Changes {
		switch ch.Field {
		case "Description":
			f.Description = &spec.Description
		case "Allowed":
			f.Allowed = wireAllowed(spec.Allowed)
		case "Denied":
			f.Denied = wireDenied(spec.Denied)
		case "Sources":
			f.SourceRanges = spec.Sources
		case "Destination":
			f.DestinationRanges = firewallDestinations(spec)
		case "Tags":
			f.TargetTags = spec.Tags
		case "Priority":
			f.Priority = firewallPriority(spec)
		default:
			return plan.Failed(fault.New(fault.Internal, "%s: no call changes %s", c.Step.ID, ch.Field))
		}
	}
	err = writeAndWait(c.Ctx, c.Session, c.firewallAPI.Patch, &computepb.PatchFirewallRequest{
		Project: c.config.HostProject(), Firewall: spec.Name, FirewallResource: f,
	})
	if c.lacksRights(err) {
		done := c.Updated(spec, nil)
		done.Manual = c.manualAction("update", spec)
		return done
	}
	return c.Updated(spec, err)
}

func deleteFirewall(c *change) plan.Outcome {
	err := writeAndWait(c.Ctx, c.Session, c.firewallAPI.Delete, &computepb.DeleteFirewallRequest{Project: c.config.HostProject(), Firewall: c.name()})
	if c.lacksRights(err) {
		done := kit.Deleted(nil)
		done.Manual = c.manualAction("delete", model.Firewall{Name: c.name()})
		return done
	}
	return kit.Deleted(err)
}

func wireAllowed(list []model.Allowed) []*computepb.Allowed {
	var out []*computepb.Allowed
	for _, a := range list {
		out = append(out, &computepb.Allowed{IPProtocol: new(a.Protocol), Ports: a.Ports})
	}
	return out
}

func wireDenied(list []model.Allowed) []*computepb.Denied {
	var out []*computepb.Denied
	for _, a := range list {
		out = append(out, &computepb.Denied{IPProtocol: new(a.Protocol), Ports: a.Ports})
	}
	return out
}

func firewallDestinations(spec model.Firewall) []string {
	if spec.Destination.ID == "" {
		return nil
	}
	return strings.Split(spec.Destination.ID, ",")
}

func firewallPriority(spec model.Firewall) *int32 {
	if spec.Priority == 0 {
		return nil
	}
	return new(int32(spec.Priority))
}
