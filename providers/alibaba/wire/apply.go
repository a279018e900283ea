package wire

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// change is one step at work.
type change = kit.Change[*Session]

// Apply performs the steps of one batch and returns one outcome for each.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	return verbTable().Apply(ctx, s, b)
}

// verbTable is the table of all writing calls.
func verbTable() kit.Verbs[*Session] {
	create, update, remove := plan.Create, plan.Update, plan.Delete
	table := kit.Verbs[*Session]{
		{Kind: model.KindBalancer, Action: create}:                           kit.With(createBalancer),
		{Kind: model.KindBalancer, Action: update, Part: model.PartName}:     kit.With(updateName),
		{Kind: model.KindBalancer, Action: update, Part: model.PartCharge}:   kit.With(updateCharge),
		{Kind: model.KindBalancer, Action: update, Part: model.PartInternet}: kit.With(updateInternet),
		{Kind: model.KindBalancer, Action: update, Part: model.PartDelete}:   kit.With(updateDeleteProtection),
		{Kind: model.KindBalancer, Action: update, Part: model.PartModify}:   kit.With(updateModificationProtection),
		{Kind: model.KindBalancer, Action: update, Part: model.PartTags}:     kit.With(updateTags),
		{Kind: model.KindBalancer, Action: update, Part: model.PartReturn}:   kit.With(returnBalancer),
		{Kind: model.KindBalancer, Action: remove}:                           deleteBalancer,
		{Kind: model.KindGroup, Action: create}:                              kit.With(createGroup),
		{Kind: model.KindGroup, Action: update, Part: model.PartServers}:     kit.With(updateServers),
		{Kind: model.KindGroup, Action: remove}:                              deleteGroup,
		{Kind: model.KindListener, Action: create}:                           kit.With(createListener),
		{Kind: model.KindListener, Action: update}:                           kit.With(updateListener),
		{Kind: model.KindListener, Action: update, Part: model.PartStart}:    kit.With(startListener),
		{Kind: model.KindListener, Action: remove}:                           deleteListener,
		{Kind: model.KindDomain, Action: create}:                             kit.With(createDomain),
		{Kind: model.KindDomain, Action: update}:                             kit.With(updateDomain),
		{Kind: model.KindDomain, Action: remove}:                             deleteDomain,
	}
	for _, part := range []string{model.PartName, model.PartCharge, model.PartInternet, model.PartDelete, model.PartModify, model.PartTags} {
		table[kit.Verb{Kind: model.KindAttributes, Action: update, Part: part}] = table[kit.Verb{Kind: model.KindBalancer, Action: update, Part: part}]
	}
	maps.Copy(table, netVerbs())
	return table
}

// parentOf returns the id of the load balancer that a step is about.
func parentOf(c *change) string {
	switch {
	case c.Step.Target.In == (stack.Key{}):
		return c.ID()
	case c.Step.ID.Key.Kind == model.KindDomain:
		lb, _, _ := strings.Cut(c.Parent(), "/") // of the listener
		return lb
	}
	return c.Parent()
}

// writeTo makes a writing call about the step's load balancer.
func writeTo(c *change, action string, params url.Values, out any) error {
	lb := parentOf(c)
	if lb == "" {
		return fault.New(fault.Internal, "%s: its load balancer is not known", c.Step.ID)
	}
	return c.Session.change(c.Ctx, lb, action, params, out)
}

// failedLater returns the outcome of a call that failed after an earlier one of the step.
func failedLater(err error) plan.Outcome { return plan.Outcome{Err: err, Sent: plan.MaybeSent} }

// createBalancer creates a load balancer. If its vSwitch has no free address, the other configured
// ones are tried.
func createBalancer(c *change, spec model.Balancer) plan.Outcome {
	var err error
	for _, vswitch := range append([]string{spec.VSwitch}, spec.Spares...) {
		spec.VSwitch = vswitch
		var made balancerDoc
		err = sendCreation(c, "", balancerParams(spec), func(params url.Values) error { return c.Session.write(c.Ctx, actCreateBalancer, params, &made) })
		if err == nil {
			spec.Address, spec.Name = made.Address, cmp.Or(made.Name, spec.Name)
			spec.VPC, spec.VSwitch, spec.NetworkType = cmp.Or(made.VPC, spec.VPC), cmp.Or(made.VSwitch, spec.VSwitch), cmp.Or(made.NetworkType, spec.NetworkType)
			spec.Group, spec.Spares = cmp.Or(made.Group, spec.Group), nil
			return c.Created(made.ID, stack.Tag, spec)
		}
		if refusal, is := errors.AsType[*fault.Fault](err); !is || !strings.EqualFold(refusal.Code, codeNoAddress) {
			break
		}
	}
	return kit.Failed(err)
}

// codeNoAddress refuses a vSwitch without a free address.
const codeNoAddress = "VSwitchAvailableIpNotExist"

// protectionReason is what the console shows for the protection against changes.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/model/clb.
const protectionReason = "managed.by.ack"

// balancerParams returns the parameters of a new load balancer. Empty ones are left out.
func balancerParams(spec model.Balancer) url.Values {
	out := url.Values{}
	for name, value := range map[string]string{
		"LoadBalancerName": spec.Name, "AddressType": spec.AddressType, "AddressIPVersion": spec.IPVersion, "VpcId": spec.VPC, "VSwitchId": spec.VSwitch, "Address": spec.Address,
		"MasterZoneId": spec.Zone, "SlaveZoneId": spec.Backup, "ResourceGroupId": spec.Group, "InstanceChargeType": spec.ChargeType, "LoadBalancerSpec": spec.Size,
		"InternetChargeType": spec.TrafficCharge, "DeleteProtection": spec.DeleteProtection, "ModificationProtectionStatus": spec.ModificationProtection,
	} {
		if value != "" {
			out.Set(name, value)
		}
	}
	if spec.Bandwidth > 0 {
		out.Set("Bandwidth", strconv.Itoa(spec.Bandwidth))
	}
	if spec.ModificationProtection == "ConsoleProtection" {
		out.Set("ModificationProtectionReason", protectionReason)
	}
	addTags(out, spec.Tags)
	return out
}

// addTags adds tags as parameters: those of the controller first, the others by key.
func addTags(out url.Values, tags map[string]string) {
	keys := slices.DeleteFunc([]string{model.TagOwner, model.TagCluster}, func(key string) bool { _, given := tags[key]; return !given })
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for i, key := range keys {
		out.Set("Tag."+strconv.Itoa(i+1)+".Key", key)
		out.Set("Tag."+strconv.Itoa(i+1)+".Value", tags[key])
	}
}

func updateName(c *change, spec model.Balancer) plan.Outcome {
	return c.Updated(spec, writeTo(c, actSetName, url.Values{"LoadBalancerId": {c.ID()}, "LoadBalancerName": {spec.Name}}, nil))
}

// updateCharge changes how a load balancer is paid, or its size alone.
func updateCharge(c *change, spec model.Balancer) plan.Outcome {
	params := url.Values{"LoadBalancerId": {c.ID()}}
	if spec.Size != "" && spec.ChargeType != "PayByCLCU" {
		params.Set("LoadBalancerSpec", spec.Size)
	}
	if !c.Step.Touches("ChargeType") {
		return c.Updated(spec, writeTo(c, actSetSize, params, nil))
	}
	params.Set("InstanceChargeType", spec.ChargeType)
	return c.Updated(spec, writeTo(c, actSetCharge, params, nil))
}

func updateInternet(c *change, spec model.Balancer) plan.Outcome {
	params := url.Values{"LoadBalancerId": {c.ID()}}
	if spec.TrafficCharge != "" {
		params.Set("InternetChargeType", spec.TrafficCharge)
	}
	if spec.Bandwidth > 0 {
		params.Set("Bandwidth", strconv.Itoa(spec.Bandwidth))
	}
	return c.Updated(spec, writeTo(c, actSetInternet, params, nil))
}

func updateDeleteProtection(c *change, spec model.Balancer) plan.Outcome {
	return c.Updated(spec, writeTo(c, actSetDelete, url.Values{"LoadBalancerId": {c.ID()}, "DeleteProtection": {spec.DeleteProtection}}, nil))
}

func updateModificationProtection(c *change, spec model.Balancer) plan.Outcome {
	params := url.Values{"LoadBalancerId": {c.ID()}, "ModificationProtectionStatus": {spec.ModificationProtection}}
	if spec.ModificationProtection == "ConsoleProtection" {
		params.Set("ModificationProtectionReason", protectionReason)
	}
	return c.Updated(spec, writeTo(c, actSetModify, params, nil))
}

// updateTags adds the desired tags. Others stay.
func updateTags(c *change, spec model.Balancer) plan.Outcome {
	found, _ := c.Step.Found.(model.Balancer)
	all, missing := map[string]string{}, map[string]string{}
	maps.Copy(all, found.Tags)
	for key, value := range spec.Tags {
		if was, ok := all[key]; !ok || was != value {
			missing[key] = value
		}
	}
	params := url.Values{"ResourceType": {"instance"}, "ResourceId.1": {c.ID()}}
	addTags(params, missing)
	err := writeTo(c, actTag, params, nil)
	maps.Copy(all, missing)
	spec.Tags = all
	return c.Updated(spec, err)
}

// deleteBalancer deletes a load balancer with all of its parts. The protection against deletion is
// switched off by the same step.
func deleteBalancer(c *change) plan.Outcome {
	found, _ := c.Step.Found.(model.Balancer)
	if found.DeleteProtection == "on" {
		if err := writeTo(c, actSetDelete, url.Values{"LoadBalancerId": {c.ID()}, "DeleteProtection": {"off"}}, nil); err != nil {
			return kit.Deleted(err)
		}
		if err := writeTo(c, actDeleteBalancer, url.Values{"LoadBalancerId": {c.ID()}}, nil); err != nil && !fault.Is(err, fault.NotFound) {
			return failedLater(err)
		}
		return kit.Deleted(nil)
	}
	return kit.Deleted(writeTo(c, actDeleteBalancer, url.Values{"LoadBalancerId": {c.ID()}}, nil))
}

// returnBalancer gives a load balancer back to the user: its protections are switched off, and the
// tags of the controller removed last, because they are what it is found by.
func returnBalancer(c *change, spec model.Balancer) plan.Outcome {
	id := url.Values{"LoadBalancerId": {c.ID()}}
	sent := false
	for _, call := range []struct {
		action string
		params url.Values
		needed bool
	}{
		{actSetDelete, url.Values{"DeleteProtection": {"off"}}, spec.DeleteProtection == "on"},
		{actSetModify, url.Values{"ModificationProtectionStatus": {"NonProtection"}}, spec.ModificationProtection == "ConsoleProtection"},
		{actUntag, url.Values{"ResourceType": {"instance"}, "ResourceId.1": {c.ID()}, "TagKey.1": {model.TagOwner}, "TagKey.2": {model.TagCluster}}, true},
	} {
		if !call.needed {
			continue
		}
		if call.action != actUntag {
			maps.Copy(call.params, id)
		}
		if err := writeTo(c, call.action, call.params, nil); err != nil {
			return failedAfter(err, sent)
		}
		sent = true
	}
	return c.Updated(spec, nil)
}
