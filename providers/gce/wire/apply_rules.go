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

// createRule makes the rule, and reads it for the IP that the cloud has chosen. A
// rule that only wishes for its IP is made without it if the cloud says no: it
// may be taken, outside of the subnet or not the project's any more.
func createRule(c *change, spec model.Rule) plan.Outcome {
	err := c.insertRule(spec)
	if spec.Wish && spec.IP != "" && refusesIP(err) {
		spec.IP = ""
		err = c.insertRule(spec)
	}
	if err != nil {
		return kit.Failed(err)
	}
	path := c.path(model.KindRules, spec.Name)
	if after, all := spec.Known(); all {
		c.places.Set(path, placeOf(after))
		return c.Created(path, stack.Name, after)
	}
	found, err := c.newRule(c.Ctx, spec.Name)
	if err == nil && found == nil {
		err = fault.New(fault.Ambiguous, "forwarding rule %s: was not found right after its creation", spec.Name)
	}
	if err != nil {
		// It was made. Without its IP nothing that follows would be right.
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	after := (&view{}).ruleOf(found)
	after.Target, after.Backend = spec.Target, spec.Backend
	c.places.Set(path, placeOf(after))
	return c.Created(path, stack.Name, after)
}

// refusesIP errs on yes: the answer does not say what it refuses.
func refusesIP(err error) bool {
	return fault.Is(err, fault.Invalid) || fault.Is(err, fault.Exists) || fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound)
}

func (c *change) insertRule(spec model.Rule) error {
	f := &computepb.ForwardingRule{
		Name: &spec.Name, Description: optionalText(spec.Description), LoadBalancingScheme: &spec.Scheme, IPProtocol: &spec.Protocol,
		Ports: spec.Ports.List, PortRange: optionalText(spec.Ports.Range),
		Target: optionalText(c.link(spec.Target)), BackendService: optionalText(c.link(spec.Backend)),
		Network: optionalText(c.urlOf(spec.Network)), Subnetwork: optionalText(c.urlOf(spec.Subnet)),
		NetworkTier: optionalText(spec.Tier), IpCollection: optionalText(spec.IPCollection),
		IPAddress: optionalText(cmp.Or(sentIP(spec), c.link(spec.Address))),
	}
	if spec.Ports.All {
		f.AllPorts = new(true)
	}
	if spec.GlobalAccess {
		f.AllowGlobalAccess = new(true)
	}
	if spec.IPVersion == model.VersionIPv6 {
		f.IpVersion = new(model.VersionIPv6)
	}
	defer c.facts.rules.Forget() // other Services ask for the same address
	return writeAndWait(c.Ctx, c.Session, c.ruleAPI.Insert, &computepb.InsertForwardingRuleRequest{ForwardingRuleResource: f})
}

// sentIP is how the IP of a rule is asked for: external IPv6 rules have a range.
func sentIP(spec model.Rule) string {
	if spec.IP != "" && spec.Scheme == model.SchemeExternal && spec.IPVersion == model.VersionIPv6 {
		return spec.IP + model.ExternalRange
	}
	return spec.IP
}

// updateRule patches what can change on a live rule.
func updateRule(c *change, spec model.Rule) plan.Outcome {
	f := &computepb.ForwardingRule{Name: &spec.Name}
	patch := false
	for _, ch := range c.Step.Changes {
		switch ch.Field {
		case "GlobalAccess":
			f.AllowGlobalAccess, patch = &spec.GlobalAccess, true
		case "Tier":
			f.NetworkTier, patch = optionalText(spec.Tier), true
		case "Target":
			if err := c.setTarget(spec); err != nil {
				return kit.Failed(err)
			}
		default:
			return plan.Failed(fault.New(fault.Internal, "%s: no call changes %s", c.Step.ID, ch.Field))
		}
	}
	if !patch {
		return c.Updated(spec, nil)
	}
	return c.Updated(spec, writeAndWait(c.Ctx, c.Session, c.ruleAPI.Patch, &computepb.PatchForwardingRuleRequest{ForwardingRule: spec.Name, ForwardingRuleResource: f}))
}

func (c *change) setTarget(spec model.Rule) error {
	return writeAndWait(c.Ctx, c.Session, c.ruleAPI.SetTarget, &computepb.SetTargetForwardingRuleRequest{
		ForwardingRule:          spec.Name,
		TargetReferenceResource: &computepb.TargetReference{Target: new(c.link(spec.Target))},
	})
}

func deleteRule(c *change) plan.Outcome {
	c.places.Forget(c.ID())
	defer c.facts.rules.Forget()
	return kit.Deleted(writeAndWait(c.Ctx, c.Session, c.ruleAPI.Delete, &computepb.DeleteForwardingRuleRequest{ForwardingRule: c.name()}))
}

// placeOf is the IP or range that clients of a rule send to, as firewalls write it.
func placeOf(r model.Rule) string { return sentIP(r) }

// placeOfRule is the same by the rule's path.
func (c *change) placeOfRule(path string) (string, error) {
	if known, ok := c.places.Get(path, 0); ok {
		return known, nil
	}
	found, err := c.newRule(c.Ctx, model.LastOf(path))
	if err == nil && found == nil {
		err = fault.New(fault.Conflict, "forwarding rule %s: not found", model.LastOf(path))
	}
	if err != nil {
		return "", err
	}
	at := placeOf((&view{}).ruleOf(found))
	c.places.Set(path, at)
	return at, nil
}

// createAddress reserves an IP, of a live rule or a new one. If the IP is already
// reserved under another name, it is held, and there is nothing to do.
func createAddress(c *change, spec model.Address) plan.Outcome {
	a := &computepb.Address{
		Name: &spec.Name, Description: optionalText(spec.Description), AddressType: &spec.Type, Address: optionalText(spec.IP),
		Subnetwork: optionalText(c.urlOf(spec.Subnet)), IpCollection: optionalText(spec.IPCollection),
	}
	if spec.Type == model.SchemeExternal {
		a.NetworkTier = optionalText(spec.Tier)
	}
	if spec.IPVersion == model.VersionIPv6 {
		c.asIPv6(a, spec)
	}
	err := writeAndWait(c.Ctx, c.Session, c.addressAPI.Insert, &computepb.InsertAddressRequest{AddressResource: a})
	switch {
	case err == nil && spec.IP != "" && (spec.Type != model.SchemeExternal || spec.IPVersion != model.VersionIPv6): // whose subnet the cloud tells
		return c.Created(c.path(model.KindAddress, spec.Name), stack.Name, spec.Known())
	case err == nil:
		return c.readAddress(spec)
	case spec.IP != "" && refusesIP(err) && c.reservedByOther(spec): // nothing was made, so nothing can be read
		return c.Created(c.path(model.KindAddress, spec.Name), stack.Name, spec)
	}
	return kit.Failed(err)
}

// asIPv6: an address that takes over the IP of a rule has its length, a new one its
// version. Source: kubernetes/ingress-gce:pkg/l4/address/manager.go.
func (c *change) asIPv6(a *computepb.Address, spec model.Address) {
	if spec.IP != "" {
		a.PrefixLength = new(int32(96))
		if spec.Type == model.SchemeExternal {
			a.Subnetwork = nil
		}
		return
	}
	a.IpVersion = new(model.VersionIPv6)
	if spec.Type == model.SchemeExternal {
		a.Ipv6EndpointType = new(computepb.Address_NETLB.String())
	}
}

func (c *change) readAddress(spec model.Address) plan.Outcome {
	found, err := readCall(c.Ctx, c.addressAPI.Get, &computepb.GetAddressRequest{Project: c.config.Project, Region: c.config.Region, Address: spec.Name})
	if err != nil {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	after := addressOf(found)
	after.Subnet = cmp.Or(after.Subnet, spec.Subnet)
	return c.Created(c.path(model.KindAddress, spec.Name), stack.Name, after)
}

// reservedByOther reports whether an address of another name has the IP.
func (c *change) reservedByOther(spec model.Address) bool {
	list, err := c.allAddresses(c.Ctx)
	return err == nil && slices.ContainsFunc(list, func(a *computepb.Address) bool {
		return bareIP(a.GetAddress()) == spec.IP && a.GetName() != spec.Name
	})
}

func deleteAddress(c *change) plan.Outcome {
	return kit.Deleted(writeAndWait(c.Ctx, c.Session, c.addressAPI.Delete, &computepb.DeleteAddressRequest{Address: c.name()}))
}
