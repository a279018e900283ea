package model

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-lb/berth/annotations"
)

// How many targets AWS allows in accounts that have not raised it. Sources: quotas for
// Network Load Balancers and for Classic Load Balancers, Elastic Load Balancing user
// guides (docs.aws.amazon.com/elasticloadbalancing/latest/network/load-balancer-limits.html).
const (
	defaultClassicInstances = 1000 // of one Classic Load Balancer
	DefaultGroupTargets     = 1000 // of one target group
	DefaultZoneTargets      = 500  // of one load balancer in one zone; in all zones together with cross-zone balancing
)

// TargetQuota is the number of targets that AWS reports as its quota, or was found to
// allow. Zero means unknown: a quota can be raised.
type TargetQuota struct {
	Group    int // in one target group
	Zone     int // in one zone, of all target groups of one load balancer together
	Balancer int // of all target groups of one load balancer together
	Classic  int // instances of a Classic Load Balancer
}

// networkTargets are the instances that every target group of a Network Load Balancer
// gets: the running ones, limited to the number that AWS allows. The selection is stable
// from run to run: registered ones first, then by a hash that differs from Service to
// Service, as many in each zone as in the others.
func (b *builder) networkTargets(ports int) []string {
	running := b.running()
	zones := b.byZone(running)
	inZone, inGroup := b.targetLimits(max(ports, 1))
	chosen := b.chooseTargets(zones, inZone, inGroup)
	if len(chosen) == len(running) {
		b.expectQuota(zones, max(ports, 1))
		return running
	}
	b.report(annotations.ProblemOf("nodes", "", fmt.Sprintf("are %d with %d ports each, more than AWS takes as targets: %d of them get traffic%s", len(running), ports, len(chosen), inZoneText(inZone)),
		"a higher quota for targets, or fewer nodes by "+nodeLabelsKey.Name, annotations.Warning))
	return chosen
}

// classicInstances are the instances that a Classic Load Balancer gets: of more than
// AWS allows some that stay the same, as many in each zone as in the others.
func (b *builder) classicInstances() []string {
	most := b.facts.Quota.Classic
	if most == 0 || len(b.ids) <= most {
		if most == 0 && len(b.ids) > defaultClassicInstances {
			b.report(annotations.ProblemOf("nodes", "", fmt.Sprintf("are %d, above %d instances of a Classic Load Balancer, the quota of accounts that have not raised it; beyond the quota only some get traffic", len(b.ids), defaultClassicInstances), "", annotations.Warning))
		}
		return b.ids
	}
	b.report(annotations.ProblemOf("nodes", "", fmt.Sprintf("are %d, more than the %d instances that AWS takes in a Classic Load Balancer: so many of them get traffic", len(b.ids), most),
		"a higher quota for registered instances, or fewer nodes by "+nodeLabelsKey.Name, annotations.Warning))
	return b.chooseTargets(b.byZone(b.ids), most, most)
}

func (b *builder) byZone(ids []string) map[string][]string {
	zones := map[string][]string{}
	for _, id := range ids {
		zone := b.facts.Instances[id].Zone
		zones[zone] = append(zones[zone], id)
	}
	return zones
}

// running are the instances that AWS accepts as targets of a target group: it refuses
// instances that do not run. Source: API reference, RegisterTargets.
func (b *builder) running() []string {
	var stopped []string
	out := make([]string, 0, len(b.ids))
	for _, id := range b.ids {
		if b.facts.Instances[id].Stopped {
			stopped = append(stopped, id)
			continue
		}
		out = append(out, id)
	}
	if len(stopped) > 0 {
		b.report(annotations.ProblemOf("nodes", "", "have instances that do not run: "+shortList(stopped)+", so they get no traffic", "", annotations.Warning))
	}
	return slices.Clip(out)
}

// unbounded is more instances than there can be.
const unbounded = 1 << 30

// targetLimits are how many instances may be in one zone, and in all, so that each can
// be in the target groups of so many ports.
func (b *builder) targetLimits(ports int) (inZone, inGroup int) {
	inZone, inGroup = unbounded, unbounded
	quota := b.facts.Quota
	if quota.Group > 0 {
		inGroup = quota.Group
	}
	if quota.Balancer > 0 {
		inGroup = min(inGroup, max(1, quota.Balancer/ports))
	}
	if quota.Zone > 0 {
		inZone = max(1, quota.Zone/ports)
		if crossZoneKey.Get(b.in.Values) {
			inGroup = min(inGroup, inZone)
		}
	}
	return inZone, inGroup
}

// inZoneText says how many instances of a zone get traffic.
func inZoneText(most int) string {
	if most == unbounded {
		return ""
	}
	return fmt.Sprintf(", at most %d in a zone", most)
}

// chooseTargets takes instances from all zones in turn until no more may be taken.
func (b *builder) chooseTargets(zones map[string][]string, inZone, inGroup int) []string {
	registered := map[string]bool{}
	for _, id := range b.lastInstances() {
		registered[id] = true
	}
	for zone, ids := range zones {
		if len(ids) > inZone || inGroup < len(b.ids) {
			zones[zone] = b.byPreference(ids, registered)
		}
	}
	var out []string
	for round, more := 0, true; more && round < inZone && len(out) < inGroup; round++ {
		more = false
		for _, zone := range slices.Sorted(maps.Keys(zones)) {
			if round < len(zones[zone]) && len(out) < inGroup {
				out, more = append(out, zones[zone][round]), true
			}
		}
	}
	slices.Sort(out)
	return out
}

// byPreference orders instances for the choice of some of them.
func (b *builder) byPreference(ids []string, registered map[string]bool) []string {
	rank := map[string]string{}
	for _, id := range ids {
		sum := sha256.Sum256([]byte(b.in.Owner.UID + "/" + id))
		rank[id] = string(sum[:])
	}
	return slices.SortedFunc(slices.Values(ids), func(x, y string) int {
		if registered[x] != registered[y] {
			if registered[x] {
				return -1
			}
			return 1
		}
		return cmp.Compare(rank[x], rank[y])
	})
}

// expectQuota warns before the first call that AWS may not take all instances.
func (b *builder) expectQuota(zones map[string][]string, ports int) {
	total, fullest := 0, ""
	for _, zone := range slices.Sorted(maps.Keys(zones)) {
		total += len(zones[zone])
		if len(zones[zone]) > len(zones[fullest]) {
			fullest = zone
		}
	}
	if b.facts.Quota != (TargetQuota{}) {
		return // they fit what AWS was found to allow
	}
	switch most := len(zones[fullest]) * ports; {
	case total > DefaultGroupTargets:
		b.report(annotations.ProblemOf("nodes", "", fmt.Sprintf("are %d, above %d targets of a target group, the quota of accounts that have not raised it; beyond the quota only some get traffic", total, DefaultGroupTargets), "", annotations.Warning))
	case most > DefaultZoneTargets:
		b.report(annotations.ProblemOf("nodes", "", fmt.Sprintf("in zone %s make %d targets with %d ports, above %d, the quota of accounts that have not raised it; beyond the quota only some get traffic", fullest, most, ports, DefaultZoneTargets), "", annotations.Warning))
	}
}

// CompareTargets orders targets by what they are and their port.
func CompareTargets(a, b Target) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Port, b.Port))
}
