package tencent

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// mostTargets is the most targets of one call. Source: CLB API 2018-03-17, BatchRegisterTargets.
const mostTargets = 500

// listTargets answers the targets of listeners and rules.
func listTargets(v *visit) (any, error) {
	lb, err := v.balancer(v.Body.Text(owner))
	if err != nil {
		return nil, err
	}
	asked := v.Body.Texts("ListenerIds")
	if len(asked) > mostIDs {
		return nil, refuseCall("InvalidParameterValue.Length", "ListenerIds has more than %d ids.", mostIDs)
	}
	items := []any{}
	for _, l := range v.State.Having(listeners, owner, lb.Text("id")) {
		if len(asked) > 0 && !slices.Contains(asked, l.Text("id")) {
			continue
		}
		out := l.Only("ListenerId", "Protocol", "Port")
		if !isWeb(l.Text("Protocol")) {
			out["Targets"] = v.shown(l)
			items = append(items, out)
			continue
		}
		list := []any{}
		for _, r := range v.State.Having(rules, "ListenerId", l.Text("id")) {
			list = append(list, r.Only("LocationId", "Domain", "Url").With(rest.Object{"Targets": v.shown(r)}))
		}
		out["Rules"] = list
		items = append(items, out)
	}
	return v.answer(rest.Object{"Listeners": items}), nil
}

// shown returns the targets of a listener or rule as they are answered.
func (v *visit) shown(o rest.Object) []any {
	out := []any{}
	for _, t := range o.Objects("Targets") {
		one := rest.Object{"Port": t["Port"], "Weight": t["Weight"], "Type": "ENI", "PrivateIpAddresses": []any{t.Text("EniIp")}}
		if id := t.Text("InstanceId"); id != "" {
			machine, _ := v.State.Get(instances, id)
			one = one.With(rest.Object{"Type": "CVM", "InstanceId": id, "PrivateIpAddresses": []any{machine.Text("PrivateIpAddress")}})
		}
		out = append(out, one)
	}
	return out
}

// targetName tells the targets of a listener from each other.
func targetName(t rest.Object) string {
	return fmt.Sprintf("%s%s:%d", t.Text("InstanceId"), t.Text("EniIp"), numberOf(t, "Port", 0))
}

// place finds the listener or rule that a target of a call is for.
func (v *visit) placeOf(lb, t rest.Object) (string, rest.Object, error) {
	if id := t.Text("LocationId"); id != "" {
		r, err := v.rule(lb, id)
		return rules, r, err
	}
	l, err := v.listener(lb, t.Text("ListenerId"))
	if err == nil && isWeb(l.Text("Protocol")) {
		err = refuseCall("MissingParameter", "A target of the listener %s needs a rule.", l.Text("id"))
	}
	return listeners, l, err
}

// eachTarget runs a change of the targets of each listener and rule of a call. One that fails is
// listed in the answer, and stays as it is.
func (v *visit) eachTarget(lb rest.Object, change func(o rest.Object, given []rest.Object) ([]any, error)) (rest.Object, error) {
	given := v.Body.Objects("Targets")
	if len(given) == 0 || len(given) > mostTargets {
		return nil, refuseCall("InvalidParameterValue.Length", "Targets has %d targets.", len(given))
	}
	var order []string
	by := map[string][]rest.Object{}
	for _, t := range given {
		place := t.Text("ListenerId") + "/" + t.Text("LocationId")
		if by[place] == nil {
			order = append(order, place)
		}
		by[place] = append(by[place], t)
	}
	failed, message := []any{}, ""
	for _, place := range order {
		collection, o, err := v.placeOf(lb, by[place][0])
		if err != nil {
			return nil, err
		}
		list, err := change(o, by[place])
		if err != nil {
			failed, message = append(failed, by[place][0].Text("ListenerId")), err.Error()
			continue
		}
		v.State.Put(collection, o.With(rest.Object{"Targets": list}))
	}
	return rest.Object{"FailListenerIdSet": failed, "Message": message}, nil
}

func registerTargets(v *visit, lb rest.Object) (rest.Object, error) {
	return v.eachTarget(lb, func(o rest.Object, given []rest.Object) ([]any, error) {
		list, known := slices.Clone(o.List("Targets")), map[string]bool{}
		for _, t := range o.Objects("Targets") {
			known[targetName(t)] = true
		}
		for _, t := range given {
			if err := v.checkTarget(lb, t); err != nil {
				return nil, err
			}
			if known[targetName(t)] {
				return nil, refuseCall("InvalidParameterValue.Duplicate", "The target %s is bound.", targetName(t))
			}
			known[targetName(t)] = true
			list = append(list, rest.Object{"InstanceId": t.Text("InstanceId"), "EniIp": t.Text("EniIp"), "Port": numberOf(t, "Port", 0), "Weight": numberOf(t, "Weight", 10)})
		}
		if len(list) > v.cloud.opt.Limits.Targets {
			return nil, refuseCall("LimitExceeded", "The quota of %d targets is exceeded.", v.cloud.opt.Limits.Targets)
		}
		return list, nil
	})
}

// checkTarget refuses a target that a load balancer cannot have. In another network or region than the machines it reaches
// addresses alone, and only with SnatPro. Source: https://cloud.tencent.com/document/product/457/59094.
func (v *visit) checkTarget(lb, t rest.Object) error {
	id, address := t.Text("InstanceId"), t.Text("EniIp")
	port, weight := numberOf(t, "Port", 0), numberOf(t, "Weight", 10)
	_, known := v.State.Get(instances, id)
	crosses := lb.Text("VpcId") != v.cloud.Seed.VPC || lb.Text("Region") != v.cloud.Seed.Region
	switch {
	case (id == "") == (address == ""):
		return refuseCall("InvalidParameter", "A target has exactly one of InstanceId and EniIp.")
	case id != "" && !known:
		return refuseCall("InvalidParameterValue", "The instance %s is not found.", id)
	case id != "" && crosses:
		return refuseCall("InvalidParameterValue", "The instance %s is not in the VPC %s.", id, lb.Text("VpcId"))
	case address != "" && crosses && !lb.Truth("SnatPro"):
		return refuseCall("InvalidParameter", "The address %s is outside of the VPC %s, and SnatPro is off.", address, lb.Text("VpcId"))
	case address != "" && !isAddress(address):
		return refuseCall("InvalidParameterValue", "%s is not an address.", address)
	case port < 1 || port > 65535 || weight < 0 || weight > 100:
		return refuseCall("InvalidParameterValue", "The port %d or the weight %d is out of range.", port, weight)
	}
	return nil
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

func deregisterTargets(v *visit, lb rest.Object) (rest.Object, error) {
	return v.eachTarget(lb, func(o rest.Object, given []rest.Object) ([]any, error) {
		gone := map[string]bool{}
		for _, t := range given {
			gone[targetName(t)] = true
		}
		list := []any{}
		for _, t := range o.Objects("Targets") {
			if !gone[targetName(t)] {
				list = append(list, t)
			}
		}
		return list, nil
	})
}

// weighTargets gives targets other weights. Source: CLB API 2018-03-17, BatchModifyTargetWeight.
func weighTargets(v *visit, lb rest.Object) (rest.Object, error) {
	for _, one := range v.Body.Objects("ModifyList") {
		collection, o, err := v.placeOf(lb, one)
		if err != nil {
			return nil, err
		}
		weights := map[string]int{}
		for _, t := range one.Objects("Targets") {
			if t.Text("ListenerId")+t.Text("LocationId") != "" {
				return nil, refuseCall("UnknownParameter", "The entry has the listener and the rule of its targets.")
			}
			weights[targetName(t)] = numberOf(t, "Weight", numberOf(one, "Weight", 10))
		}
		list := []any{}
		for _, t := range o.Objects("Targets") {
			if w, ok := weights[targetName(t)]; ok {
				t = t.With(rest.Object{"Weight": w})
			}
			list = append(list, t)
		}
		v.State.Put(collection, o.With(rest.Object{"Targets": list}))
	}
	return nil, nil
}
