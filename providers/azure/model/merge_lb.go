package model

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// LBMerge is what must be known to put edits onto a load balancer.
type LBMerge struct {
	Config  Config
	Cluster string // --cluster-name
	Name    string // of the load balancer, for a new one
	// Version tells the IP version of a public IP, "" if it is not known.
	Version func(stack.Key) string
}

// LBEdit is the load balancer after the steps of a batch.
type LBEdit struct {
	Object  Object
	Changed bool // a PUT is due
	Delete  bool // no frontend of a Service remains: DELETE instead
	// Refused has the fault of each step that was left out, by index in the batch.
	Refused map[int]error
}

// MergeBalancer applies the entries of all steps of a batch to a load balancer as just
// read; nil means that it does not exist. Deletions are applied first, then the other steps
// in the order of the batch. An impossible step is left out whole and named. Content of
// other Services is unchanged.
//
// Azure accepts frontends of IPv6 only beside one of IPv4. Steps that would create the
// first IPv6 frontend alone are left out and wait for others. The last IPv4 one is retained
// without rules; see keepRequired.
// Source: Azure Load Balancer, error
// AtleastOneIpV4RequiredForIpV6LbFrontendIpConfiguration.
func MergeBalancer(in LBMerge, lb Object, b plan.Batch) LBEdit {
	left := map[int]error{}
	edit := in.run(lb, b, left)
	if !in.onlyIPv6(edit.Object, b) {
		return edit
	}
	for i, s := range b.Steps {
		e, ok := s.Target.Spec.(Entries)
		if ok && s.ID.Action != plan.Delete && slices.ContainsFunc(e.Frontends, isIPv6) && !slices.ContainsFunc(e.Frontends, isIPv4) {
			left[i] = fault.New(fault.Pending, "load balancer %s has no IPv4 frontend, and Azure takes IPv6 frontends only beside one; it waits for a Service with IPv4", in.Name)
		}
	}
	return in.run(lb, b, left)
}

func isIPv6(f Frontend) bool { return f.Version == IPv6 }
func isIPv4(f Frontend) bool { return f.Version != IPv6 }

// run applies all steps but the ones left out.
func (in LBMerge) run(found Object, b plan.Batch, left map[int]error) LBEdit {
	g := &lbMerge{LBMerge: in, found: found, lb: found.Clone(), batch: b, refused: map[int]error{}}
	for i, err := range left {
		g.refused[i] = err
	}
	if g.lb == nil {
		g.lb = in.newBalancer()
	}
	for i, s := range b.Steps {
		if s.ID.Action == plan.Delete && g.refused[i] == nil {
			g.remove(s)
		}
	}
	for i, s := range b.Steps {
		if s.ID.Action == plan.Delete || g.refused[i] != nil {
			continue
		}
		if err := g.write(s); err != nil {
			g.refused[i] = err
		}
	}
	return g.result()
}

// newBalancer is a load balancer with nothing in it.
func (in LBMerge) newBalancer() Object {
	out := Object{"location": in.Config.Location, "sku": map[string]any{"name": "Standard"}, "properties": map[string]any{}}
	if in.Config.ExtendedLocation.Name != "" {
		out["extendedLocation"] = extendedLocation(in.Config)
	}
	return out
}

func extendedLocation(c Config) map[string]any {
	return map[string]any{"name": c.ExtendedLocation.Name, "type": cmp.Or(c.ExtendedLocation.Type, "EdgeZone")}
}

// lbMerge is the state of one run.
type lbMerge struct {
	LBMerge
	found   Object
	lb      Object
	batch   plan.Batch
	refused map[int]error
	removed []string // pools of the backends of deleted rules
}

func (g *lbMerge) props() Object { return g.lb.Make("properties") }

// put writes a list back, leaving an absent one absent.
func (g *lbMerge) put(list string, items []Object) {
	p := g.props()
	if _, there := p[list]; there || len(items) > 0 {
		p.SetList(list, items)
	}
}

// remove takes away what the step's Service has.
func (g *lbMerge) remove(s plan.Step) {
	switch spec := s.Target.Spec.(type) {
	case Entries:
		base := BaseName(s.ID.Owner.UID)
		g.keepRules(base, nil)
		g.keepProbes(base, nil)
		g.dropFrontends(s, base, spec.Frontends, nil)
	case Pool:
		if !PoolInUse(g.lb, spec.Name, "") {
			g.dropPool(spec.Name)
		}
	}
}

// write puts what the step's Service wants in the place of what it has.
func (g *lbMerge) write(s plan.Step) error {
	switch spec := s.Target.Spec.(type) {
	case Entries:
		return g.writeEntries(s, spec)
	case Pool:
		g.ensurePool(spec.Name)
	}
	return nil
}

func (g *lbMerge) writeEntries(s plan.Step, want Entries) error {
	base := BaseName(s.ID.Owner.UID)
	for _, pool := range want.Expect {
		if Named(g.found.Props().List(ListPools), pool) < 0 {
			return fault.New(fault.Conflict, "load balancer %s: pool %s is deleted", g.Name, pool)
		}
	}
	names, err := g.frontendNames(base, want)
	if err != nil {
		return err
	}
	rules := slices.Clone(want.Rules)
	for i := range rules {
		rules[i].Frontend = cmp.Or(names[lowerCase(rules[i].Frontend)], rules[i].Frontend)
	}
	if err := cmp.Or(g.conflict(base, rules), g.fits(base, rules, names)); err != nil {
		return err
	}
	g.keepRules(base, rules)
	if err := g.putFrontends(base, want, names); err != nil {
		return err
	}
	for _, pool := range want.Pools {
		g.ensurePool(pool)
	}
	g.keepProbes(base, want.Probes)
	g.putProbes(want.Probes)
	g.putRules(rules)
	found, _ := s.Found.(Entries)
	g.dropFrontends(s, base, found.Frontends, names)
	g.setTags(want.Tags)
	return nil
}

func (g *lbMerge) setTags(want Tags) {
	if now := g.lb.Tags(); !sameTags(want, now) && want != nil {
		g.lb.setTags(mergeTags(now, want, g.Config.SystemTags))
	}
}

// keepRules drops the Service's rules that are not among the given ones.
func (g *lbMerge) keepRules(base string, keep []Rule) {
	g.put(ListRules, slices.DeleteFunc(g.props().List(ListRules), func(r Object) bool {
		name := r.Text("name")
		if !ownedBy(base, name) || slices.ContainsFunc(keep, func(k Rule) bool { return strings.EqualFold(k.Name, name) }) {
			return false
		}
		g.removed = append(g.removed, PoolOf(r))
		return true
	}))
}

func (g *lbMerge) keepProbes(base string, keep []Probe) {
	g.put(ListProbes, slices.DeleteFunc(g.props().List(ListProbes), func(p Object) bool {
		name := p.Text("name")
		return ownedBy(base, name) && !slices.ContainsFunc(keep, func(k Probe) bool { return strings.EqualFold(k.Name, name) })
	}))
}

// putRules writes the rules that differ, in their place, keeping fields that are
// not ours, and appends new ones.
func (g *lbMerge) putRules(rules []Rule) {
	list := g.props().List(ListRules)
	for _, want := range rules {
		i := Named(list, want.Name)
		switch {
		case i < 0:
			list, i = append(list, Object{"name": want.Name}), len(list)
		case sameRule(want, ruleOf(list[i])):
			continue
		}
		g.fillRule(list[i].Make("properties"), want)
	}
	g.put(ListRules, list)
}

func (g *lbMerge) fillRule(p Object, r Rule) {
	p["protocol"], p["frontendPort"], p["backendPort"] = r.Protocol, jsonNumber(r.FrontendPort), jsonNumber(r.BackendPort)
	p["enableFloatingIP"], p["loadDistribution"] = r.FloatingIP, r.Distribution
	p["idleTimeoutInMinutes"], p["disableOutboundSnat"] = jsonNumber(r.IdleTimeout), r.NoSNAT
	p[toFrontend], p[toPool] = IDObject(g.childID(ListFrontends, r.Frontend)), IDObject(g.childID(ListPools, r.Pool))
	delete(p, "backendAddressPools") // the plural form of the field above
	delete(p, toProbe)
	if r.Probe != "" {
		p[toProbe] = IDObject(g.childID(ListProbes, r.Probe))
	}
	delete(p, "enableTcpReset")
	if r.Protocol != "Udp" {
		p["enableTcpReset"] = r.TCPReset
	}
}

func (g *lbMerge) putProbes(probes []Probe) {
	list := g.props().List(ListProbes)
	for _, want := range probes {
		i := Named(list, want.Name)
		switch {
		case i < 0:
			list, i = append(list, Object{"name": want.Name}), len(list)
		case sameProbe(want, probeOf(list[i])):
			continue
		}
		p := list[i].Make("properties")
		p["protocol"], p["port"] = want.Protocol, jsonNumber(want.Port)
		p["intervalInSeconds"], p["probeThreshold"] = jsonNumber(want.Interval), jsonNumber(want.Threshold)
		delete(p, "requestPath")
		if want.Protocol != "Tcp" {
			p["requestPath"] = want.Path
		}
	}
	g.put(ListProbes, list)
}

// childID is the id of a part: its own where it has one, since the group may be
// written in another case there.
func (g *lbMerge) childID(list, name string) string {
	items := g.props().List(list)
	if i := Named(items, name); i >= 0 && items[i].Text("id") != "" {
		return items[i].Text("id")
	}
	return g.Config.BalancerID(cmp.Or(g.lb.Text("name"), g.Name)) + "/" + list + "/" + name
}

func (g *lbMerge) ensurePool(name string) {
	if pools := g.props().List(ListPools); Named(pools, name) < 0 {
		g.put(ListPools, append(pools, Object{"name": name}))
	}
}

func (g *lbMerge) dropPool(name string) {
	if IsClusterPool(g.Cluster, name) && HasForeign(g.found) {
		return // see PoolProof
	}
	g.put(ListPools, slices.DeleteFunc(g.props().List(ListPools), func(p Object) bool {
		return strings.EqualFold(p.Text("name"), name) && len(p.Props().List(ListMembers)) == 0
	}))
}

// result deletes unused parts and returns the edit.
func (g *lbMerge) result() LBEdit {
	rules := g.props().List(ListRules)
	g.put(ListProbes, slices.DeleteFunc(g.props().List(ListProbes), func(p Object) bool {
		uses := func(r Object) bool { return strings.EqualFold(r.refName(toProbe), sharedProbe) }
		return strings.EqualFold(p.Text("name"), sharedProbe) && !slices.ContainsFunc(rules, uses)
	}))
	if !g.Config.FilledByOthers(KindOf(g.Name)) {
		for _, pool := range g.removed {
			if pool != "" && !PoolInUse(g.lb, pool, "") {
				g.dropPool(pool)
			}
		}
	}
	g.keepRequired()
	edit := LBEdit{Object: g.lb, Refused: g.refused, Changed: !reflect.DeepEqual(map[string]any(g.found), map[string]any(g.lb))}
	frontends := len(g.props().List(ListFrontends))
	if frontends > 0 && !g.idle() {
		return edit
	}
	if g.found == nil {
		// Nothing is made for pools alone.
		return LBEdit{Refused: g.refused}
	}
	// Azure never lets the last frontend go alone, whatever pools there are. The official
	// controller leaves those of Services with traffic policy Local behind.
	// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
	edit.Delete = edit.Changed && !g.Config.FilledByOthers(KindOf(g.Name))
	return edit
}

// KindOf returns the kind of a load balancer by the suffix of its name.
func KindOf(lb string) string {
	if strings.HasSuffix(lowerCase(lb), suffixInternal) {
		return Internal
	}
	return Public
}

func jsonNumber(n int32) json.Number { return json.Number(strconv.Itoa(int(n))) }
