package model

import (
	"fmt"

	"github.com/berth-lb/berth/annotations"
)

// tellServers warns before the data that servers receive changes: the attributes of an
// existing target group. AWS applies them to new connections at once, and responds as to
// any other attribute.
// Source: AWS, User Guide for Network Load Balancers: "Edit target group attributes".
func (b *builder) tellServers() {
	for _, res := range b.out.Of(KindTargetAttr) {
		found, there := b.found(res.Key)
		was, _ := found.Spec.(Attributes)
		wanted, _ := res.Spec.(Attributes)
		if group, _ := b.found(res.In); !there || group.ID == "" {
			continue
		}
		for _, change := range []struct{ attribute, text string }{
			{attrProxyV2, "new connections begin with the PROXY protocol version 2 or no longer do: servers that expect the other fail all of them"},
			{attrPreserveIP, "servers see other addresses of clients on new connections"},
		} {
			before, after := was.Values[change.attribute], wanted.Values[change.attribute]
			if before != "" && after != "" && before != after {
				b.report(annotations.ProblemOf(targetAttrKey.Name, "", fmt.Sprintf("changes %s of a target group that serves from %s to %s: %s", change.attribute, before, after, change.text), "", annotations.Warning))
			}
		}
	}
	b.problems = b.problems.Distinct()
}

// tellPorts warns before all targets of a group that stays get another port. The
// Service's previous node port is closed, and AWS sends to no target before its first
// checks are over. A group that is recreated for that is reported by the plan.
func (b *builder) tellPorts() {
	for _, res := range b.out.Of(KindTargets) {
		have, _ := b.found(res.In)
		want, _ := b.out.Get(res.In)
		was, there := have.Spec.(TargetGroup)
		next, _ := want.Spec.(TargetGroup)
		targets, _ := res.Spec.(Targets)
		old := b.targetsIn(have)
		if !there || was.TargetType != targetInstance || !was.served(next) || len(old) == 0 || len(targets.Targets) == 0 {
			continue
		}
		if port := targets.Targets[0].Port; !b.serves(have, was, port) {
			b.report(annotations.ProblemOf("spec.ports", "", fmt.Sprintf("give %s the node port %d in place of %d, where nothing answers any more: a brief interruption, until AWS has checked the targets on the new one", res.In, port, old[0].Port), "", annotations.Warning))
		}
	}
	b.problems = b.problems.Distinct()
}
