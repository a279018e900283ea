package wire

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// netVerbs is the table of the writing calls of network load balancers.
func netVerbs() kit.Verbs[*Session] {
	create, update, remove := plan.Create, plan.Update, plan.Delete
	table := kit.Verbs[*Session]{
		{Kind: model.KindNetBalancer, Action: create}:                            kit.With(createNet),
		{Kind: model.KindNetBalancer, Action: update, Part: model.PartAttribute}: kit.With(updateNetAttributes),
		{Kind: model.KindNetBalancer, Action: update, Part: model.PartAddress}:   kit.With(updateNetAddress),
		{Kind: model.KindNetBalancer, Action: update, Part: model.PartZones}:     kit.With(updateNetZones),
		{Kind: model.KindNetBalancer, Action: update, Part: model.PartSecurity}:  kit.With(updateNetSecurity),
		{Kind: model.KindNetBalancer, Action: update, Part: model.PartIPv6}:      kit.With(updateNetIPv6),
		{Kind: model.KindNetBalancer, Action: update, Part: model.PartPackage}:   kit.With(updateNetPackage),
		{Kind: model.KindNetBalancer, Action: update, Part: model.PartTags}:      kit.With(updateNetTags),
		{Kind: model.KindNetBalancer, Action: update, Part: model.PartReturn}:    kit.With(returnNet),
		{Kind: model.KindNetBalancer, Action: remove}:                            deleteNet,
		{Kind: model.KindServerGroup, Action: create}:                            kit.With(createServerGroup),
		{Kind: model.KindServerGroup, Action: update, Part: model.PartServers}:   kit.With(updateNetServers),
		{Kind: model.KindServerGroup, Action: update, Part: model.PartSettings}:  kit.With(updateServerGroup),
		{Kind: model.KindServerGroup, Action: update, Part: model.PartReturn}:    kit.With(returnServerGroup),
		{Kind: model.KindServerGroup, Action: remove}:                            deleteServerGroup,
		{Kind: model.KindNetListener, Action: create}:                            kit.With(createNetListener),
		{Kind: model.KindNetListener, Action: update}:                            kit.With(updateNetListener),
		{Kind: model.KindNetListener, Action: update, Part: model.PartStart}:     kit.With(startNetListener),
		{Kind: model.KindNetListener, Action: update, Part: model.PartMore}:      kit.With(updateMore),
		{Kind: model.KindNetListener, Action: remove}:                            deleteNetListener,
		{Kind: model.KindSecurityGroup, Action: create}:                          kit.With(createSecurityGroup),
		{Kind: model.KindSecurityGroup, Action: update, Part: model.PartRanges}:  kit.With(updateRanges),
		{Kind: model.KindSecurityGroup, Action: update, Part: model.PartAttribute}: kit.With(func(c *change, spec model.SecurityGroup) plan.Outcome {
			return c.Updated(spec, c.Session.write(c.Ctx, actSetSecurity, url.Values{"SecurityGroupId": {c.ID()}, "SecurityGroupName": {spec.Name}, "Description": {spec.Description}}, nil))
		}),
		{Kind: model.KindSecurityGroup, Action: remove}: func(c *change) plan.Outcome {
			return kit.Deleted(c.Session.write(c.Ctx, actDeleteSecurity, url.Values{"SecurityGroupId": {c.ID()}}, nil))
		},
	}
	for _, part := range []string{model.PartAttribute, model.PartAddress, model.PartZones, model.PartSecurity, model.PartIPv6, model.PartPackage, model.PartTags} {
		table[kit.Verb{Kind: model.KindNetAttributes, Action: update, Part: part}] = table[kit.Verb{Kind: model.KindNetBalancer, Action: update, Part: part}]
	}
	return table
}

// sendCreation makes a creating call with its idempotency token. Processes share the tokens of a
// scope: what one has under way when it ends is not created twice.
func sendCreation(c *change, scope string, params url.Values, send func(url.Values) error) error {
	return c.Session.tokens.Send(c.Step.ID.Owner, scope+c.Step.ID.String(), []byte(params.Encode()), func(token string) error {
		params.Set("ClientToken", token)
		return send(params)
	})
}

// createNet creates a network load balancer, waits until it is active, and sets what the creating call does not
// take. No listener exists meanwhile, so no client passes before the security groups are joined.
func createNet(c *change, spec model.NetBalancer) plan.Outcome {
	var made struct {
		ID string `json:"LoadbalancerId"`
	}
	err := sendCreation(c, "", netParams(spec), func(params url.Values) error { return c.Session.write(c.Ctx, actCreateNet, params, &made) })
	if err != nil {
		return kit.Failed(err)
	}
	state, err := c.Session.active.Wait(c.Ctx, made.ID)
	switch {
	case err != nil:
		return failedLater(&fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before the load balancer " + made.ID + " was active", Err: err})
	case state != netActive:
		c.Session.takeNet(made.ID)
		return failedLater(fault.New(fault.Ambiguous, "the load balancer %s was not created; its state is %q", made.ID, state))
	}
	for _, call := range netFollowing(c, made.ID, spec) {
		if err := c.Session.changeNet(c.Ctx, made.ID, call.action, call.params, nil); err != nil {
			return failedLater(err)
		}
	}
	found := netSpec(c.Session.takeNet(made.ID), "")
	spec.Host, spec.Group, spec.VPC, spec.Protected, spec.Locked = found.Host, cmp.Or(spec.Group, found.Group), cmp.Or(spec.VPC, found.VPC), true, true
	return c.Created(made.ID, stack.Tag, spec)
}

type netCall struct {
	action string
	params url.Values
}

// netFollowing returns the calls that complete a new load balancer.
func netFollowing(c *change, id string, spec model.NetBalancer) []netCall {
	var out []netCall
	if groups := c.IDs(spec.Security); len(groups) > 0 {
		out = append(out, netCall{actJoinSecurity, idsParams("SecurityGroupIds", groups, "LoadBalancerId", id)})
	}
	if spec.IPv6Type == "Internet" {
		out = append(out, netCall{actEnableIPv6, url.Values{"LoadBalancerId": {id}}})
	}
	if spec.CrossZone != "" {
		out = append(out, netCall{actSetNet, url.Values{"LoadBalancerId": {id}, "CrossZoneEnabled": {spec.CrossZone}}})
	}
	return out
}

// netParams returns the parameters of a new load balancer.
func netParams(spec model.NetBalancer) url.Values {
	out := url.Values{
		"LoadBalancerName": {spec.Name}, "AddressType": {spec.AddressType}, "AddressIpVersion": {spec.IPVersion}, "VpcId": {spec.VPC},
		"DeletionProtectionConfig.Enabled": {"true"}, "ModificationProtectionConfig.Status": {"ConsoleProtection"}, "ModificationProtectionConfig.Reason": {protectionReason},
	}
	for name, value := range map[string]string{"ResourceGroupId": spec.Group, "BandwidthPackageId": spec.Package} {
		if value != "" {
			out.Set(name, value)
		}
	}
	zoneParams(out, spec.Zones)
	addTags(out, spec.Tags)
	return out
}

// zoneParams adds zones. Empty parts are left out: the cloud refuses an empty address.
func zoneParams(out url.Values, zones []model.Zone) {
	for i, z := range zones {
		for name, value := range map[string]string{"ZoneId": z.Zone, "VSwitchId": z.VSwitch, "PrivateIPv4Address": z.Private, "AllocationId": z.Public} {
			if value != "" {
				out.Set("ZoneMappings."+strconv.Itoa(i+1)+"."+name, value)
			}
		}
	}
}

// writeNet makes a writing call about the step's network load balancer.
func writeNet(c *change, action string, params url.Values, out any) error {
	lb := parentOf(c)
	if lb == "" {
		return fault.New(fault.Internal, "%s: its load balancer is not known", c.Step.ID)
	}
	return c.Session.changeNet(c.Ctx, lb, action, params, out)
}

func updateNetAttributes(c *change, spec model.NetBalancer) plan.Outcome {
	params := url.Values{"LoadBalancerId": {c.ID()}}
	for name, value := range map[string]string{"LoadBalancerName": spec.Name, "CrossZoneEnabled": spec.CrossZone} {
		if value != "" {
			params.Set(name, value)
		}
	}
	return c.Updated(spec, writeNet(c, actSetNet, params, nil))
}

func updateNetAddress(c *change, spec model.NetBalancer) plan.Outcome {
	return c.Updated(spec, writeNet(c, actSetNetAddress, url.Values{"LoadBalancerId": {c.ID()}, "AddressType": {spec.AddressType}}, nil))
}

// updateNetZones sends all desired zones. Others that the load balancer has stay.
func updateNetZones(c *change, spec model.NetBalancer) plan.Outcome {
	found, _ := c.Step.Found.(model.NetBalancer)
	all := slices.Clone(spec.Zones)
	for _, z := range found.Zones {
		if !slices.ContainsFunc(all, func(w model.Zone) bool { return w.Zone == z.Zone }) {
			all = append(all, z)
		}
	}
	slices.SortFunc(all, model.CompareZones)
	params := url.Values{"LoadBalancerId": {c.ID()}}
	zoneParams(params, all)
	err := writeNet(c, actSetNetZones, params, nil)
	spec.Zones = all
	return c.Updated(spec, err)
}

// updateNetSecurity joins new security groups before others are left: clients that neither admits never pass.
// Where no more can be joined, others are left first.
func updateNetSecurity(c *change, spec model.NetBalancer) plan.Outcome {
	found, _ := c.Step.Found.(model.NetBalancer)
	want, have := c.IDs(spec.Security), c.IDs(found.Security)
	without := func(all, other []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(other, id) })
	}
	join, leave := without(want, have), without(have, want)
	send := func(action string, ids []string) error {
		if len(ids) == 0 {
			return nil
		}
		return writeNet(c, action, idsParams("SecurityGroupIds", ids, "LoadBalancerId", c.ID()), nil)
	}
	err := send(actJoinSecurity, join)
	full := fault.Is(err, fault.Quota) && len(leave) > 0
	if err != nil && !full {
		return kit.Failed(err)
	}
	if err := send(actLeaveSecurity, leave); err != nil && !fault.Is(err, fault.NotFound) {
		return failedAfter(err, len(join) > 0 && !full)
	}
	if full {
		if err := send(actJoinSecurity, join); err != nil {
			return failedLater(err)
		}
	}
	return c.Updated(spec, nil)
}

func updateNetIPv6(c *change, spec model.NetBalancer) plan.Outcome {
	action := actDisableIPv6
	if spec.IPv6Type == "Internet" {
		action = actEnableIPv6
	}
	return c.Updated(spec, writeNet(c, action, url.Values{"LoadBalancerId": {c.ID()}}, nil))
}

func updateNetPackage(c *change, spec model.NetBalancer) plan.Outcome {
	found, _ := c.Step.Found.(model.NetBalancer)
	detached := false
	if found.Package != "" {
		if err := writeNet(c, actDetachPackage, url.Values{"LoadBalancerId": {c.ID()}, "BandwidthPackageId": {found.Package}}, nil); err != nil {
			return kit.Failed(err)
		}
		detached = true
	}
	if spec.Package != "" {
		if err := writeNet(c, actAttachPackage, url.Values{"LoadBalancerId": {c.ID()}, "BandwidthPackageId": {spec.Package}}, nil); err != nil {
			return failedAfter(err, detached)
		}
	}
	return c.Updated(spec, nil)
}

func updateNetTags(c *change, spec model.NetBalancer) plan.Outcome {
	found, _ := c.Step.Found.(model.NetBalancer)
	all, missing := maps.Clone(found.Tags), map[string]string{}
	if all == nil {
		all = map[string]string{}
	}
	for key, value := range spec.Tags {
		if was, ok := all[key]; !ok || was != value {
			missing[key] = value
		}
	}
	params := url.Values{"ResourceType": {"loadbalancer"}, "ResourceId.1": {c.ID()}}
	addTags(params, missing)
	err := writeNet(c, actNetTag, params, nil)
	maps.Copy(all, missing)
	spec.Tags = all
	return c.Updated(spec, err)
}

// returnNet gives a load balancer back to the user: its protections are switched off, and the tags of the
// controller removed last, because they are what it is found by.
func returnNet(c *change, spec model.NetBalancer) plan.Outcome {
	sent := false
	if spec.Protected || spec.Locked {
		params := url.Values{"LoadBalancerId": {c.ID()}, "DeletionProtectionEnabled": {"false"}, "ModificationProtectionStatus": {"NonProtection"}}
		if err := writeNet(c, actProtectNet, params, nil); err != nil {
			return kit.Failed(err)
		}
		sent = true
	}
	if err := writeNet(c, actNetUntag, idsParams("TagKey", []string{model.TagOwner, model.TagCluster}, "ResourceType", "loadbalancer", "ResourceId.1", c.ID()), nil); err != nil {
		return failedAfter(err, sent)
	}
	return c.Updated(spec, nil)
}

func returnServerGroup(c *change, spec model.ServerGroup) plan.Outcome {
	return c.Updated(spec, c.Session.changeNet(c.Ctx, c.ID(), actNetUntag, idsParams("TagKey", []string{model.TagOwner, model.TagCluster}, "ResourceType", "servergroup", "ResourceId.1", c.ID()), nil))
}

// deleteNet deletes a load balancer with its listeners. The protection against deletion is switched off by the
// same step.
func deleteNet(c *change) plan.Outcome {
	found, _ := c.Step.Found.(model.NetBalancer)
	if found.Protected {
		err := writeNet(c, actProtectNet, url.Values{"LoadBalancerId": {c.ID()}, "DeletionProtectionEnabled": {"false"}}, nil)
		if err != nil {
			return kit.Deleted(err)
		}
	}
	err := writeNet(c, actDeleteNet, url.Values{"LoadBalancerId": {c.ID()}}, nil)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return failedAfter(err, found.Protected || fault.Is(err, fault.Pending)) // the protection may have been switched on since it was read
	}
	return kit.Deleted(nil)
}
