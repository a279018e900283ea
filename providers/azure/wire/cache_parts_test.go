package wire

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// What the lists of TestListsHoldMembers are about.
const (
	listedBalancer = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/lb"
	listedPool     = listedBalancer + "/backendAddressPools/kubernetes"
	listedSet      = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v"
)

func listedMachine(n string) string { return listedSet + "/virtualMachines/" + n }

func listedConfiguration(n string) string {
	return listedMachine(n) + "/networkInterfaces/nic/ipConfigurations/ip"
}

// poolWith is a pool as Azure shows it, with machines in it.
func poolWith(machines ...string) model.Object {
	p := model.Object{}
	var members []model.Object
	for _, n := range machines {
		members = append(members, model.IDObject(listedConfiguration(n)))
	}
	p.SetList(model.ListMembers, members)
	return model.Object{"name": "kubernetes", "id": listedPool, "properties": map[string]any(p)}
}

// balancerWith is a load balancer with such a pool.
func balancerWith(machines ...string) model.Object {
	p := model.Object{}
	p.SetList(model.ListPools, []model.Object{poolWith(machines...)})
	return model.Object{"name": "lb", "id": listedBalancer, "properties": map[string]any(p)}
}

// TestListsHoldMembers verifies that the members of a pool are cached as last written,
// whatever a concurrent response shows; where only Azure can decide them, nothing is
// cached.
func TestListsHoldMembers(t *testing.T) {
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var s *Session
	moves := func(n, configuration string) func() {
		return func() {
			s.moved(listedMachine(n), []move{{member: listedMachine(n), pool: listedPool, configuration: configuration}}, nil)
		}
	}
	joins := func(n string) func() { return moves(n, listedConfiguration(n)) }
	leaves := func(n string) func() { return moves(n, "") }
	shows := func(began int, path string, o model.Object) func() {
		return func() { s.memory.enter(write{path: path, object: o, began: at(began)}, s.now()) }
	}
	for name, tc := range map[string]struct {
		writes []func() // one a second, from the first second on
		want   []string // machines; nil: nothing is known
	}{
		"nothing":                            {nil, []string{"1"}},
		"joins":                              {[]func(){joins("2")}, []string{"1", "2"}},
		"leaves":                             {[]func(){leaves("1")}, []string{}},
		"joins again":                        {[]func(){joins("1")}, []string{"1"}},
		"joins, another leaves":              {[]func(){joins("2"), leaves("1")}, []string{"2"}},
		"shown before it joined":             {[]func(){joins("2"), shows(0, listedBalancer, balancerWith("1"))}, []string{"1", "2"}},
		"shown before it left":               {[]func(){leaves("1"), shows(0, listedBalancer, balancerWith("1"))}, []string{}},
		"taken out by another since":         {[]func(){joins("2"), shows(2, listedBalancer, balancerWith("1"))}, []string{"1"}},
		"a pool is written":                  {[]func(){shows(1, listedPool, poolWith("1", "3"))}, []string{"1", "3"}},
		"shown before the pool was written":  {[]func(){shows(0, listedPool, poolWith("3")), shows(0, listedBalancer, balancerWith("1"))}, []string{"3"}},
		"the load balancer is created again": {[]func(){joins("2"), shows(0, listedBalancer, nil), shows(0, listedBalancer, balancerWith())}, []string{}},
		"fails":                              {[]func(){func() { s.moved(listedMachine("2"), nil, errors.New("no")) }}, nil},
		"Azure brings machines along":        {[]func(){func() { s.memory.note(listedSet, nil, errUnlisted, s.now()) }}, nil},
	} {
		for _, during := range []bool{false, true} {
			now, read := start, lists{balancers: []model.Object{balancerWith("1")}}
			s = &Session{now: func() time.Time { return now }}
			mark := s.memory.begin(start)
			if !during {
				s.memory.end(mark, read, start, true)
			}
			for i, write := range tc.writes {
				now = at(i + 1)
				write()
			}
			if during {
				s.memory.end(mark, read, start, true)
			}
			if d := cmp.Diff(tc.want, listedMachines(&s.memory, now)); d != "" {
				t.Errorf("%s, while reading: %t (-want +got):\n%s", name, during, d)
			}
			if d := cmp.Diff(balancerWith("1"), read.balancers[0]); d != "" {
				t.Errorf("%s, while reading: %t: what a reader holds was written to (-want +got):\n%s", name, during, d)
			}
		}
	}
}

// listedMachines are those in the pool by what is remembered; nil if nothing is.
func listedMachines(m *listMemory, now time.Time) []string {
	known, _, young := m.recall(nil, now)
	if !young {
		return nil
	}
	out := []string{}
	for _, o := range known.balancers[0].Props().List(model.ListPools)[0].Props().List(model.ListMembers) {
		out = append(out, model.SegmentAfter(o.Text("id"), "virtualmachines"))
	}
	slices.Sort(out)
	return out
}

// TestMembersComeFromMemory: Services that go on to their second plan after slow writes to
// machines, interfaces or pools cost no list, and see of the pools what a read shows; but a
// node that is news, or another machine under its name, is looked for.
func TestMembersComeFromMemory(t *testing.T) {
	for name, seed := range map[string]simazure.SeedOptions{
		"scale set": {Pools: simazure.NodeNIC, NodesAs: simazure.VMSS}, "flexible scale set": {Pools: simazure.NodeNIC, NodesAs: simazure.Flex},
		"machines": {Pools: simazure.NodeNIC, NodesAs: simazure.VM}, "addresses": {Pools: simazure.NodeIP},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: seed, ARM: simarm.Options{Latency: 4 * time.Second}})
			began, start := time.Now(), r.Now
			r.Session.now = func() time.Time { return start.Add(time.Since(began)) }
			svcs := []*corev1.Service{numberedService(1, model.Public, nil), numberedService(2, model.Public, nil)}
			r.AllTogether(false, svcs...)
			found := func() []providers.Found[*model.Facts] {
				var scopes []providers.Scope
				for _, svc := range svcs {
					s, err := model.Cloud().Scope(r.Input(svc))
					if err != nil {
						t.Fatal(err)
					}
					s.Own = nil
					scopes = append(scopes, s)
				}
				return r.Session.Read(t.Context(), scopes)
			}
			lists := func() (n int) {
				for _, op := range []string{"network.LoadBalancers.List", "network.PublicIPAddresses.List", "network.PrivateLinkServices.List", "network.SecurityGroups.Get"} {
					n += r.writes(op)
				}
				return n
			}
			n := lists()
			remembered := found()
			if made := lists() - n; made != 0 {
				t.Errorf("%d lists were read again after the writes", made)
			}
			n = r.calls()
			time.Sleep(listAge - time.Second)
			if found(); r.calls() != n {
				t.Errorf("%d calls while writes have just ended, want none", r.calls()-n)
			}
			r.Nodes = slices.Clone(r.Nodes)
			r.Nodes[0].Status.NodeInfo.BootID = "another"
			if found(); (r.calls() == n) != (seed.Pools == simazure.NodeIP) {
				t.Errorf("%d calls for a machine that has restarted; want those that list machines, where it matters", r.calls()-n)
			}
			r.Nodes[0].Status.NodeInfo.BootID = ""
			r.Session.memory, r.Session.facts = listMemory{}, newFactCache(time.Now)
			for i, anew := range found() {
				if d := cmp.Diff(stackText(anew.Have), stackText(remembered[i].Have)); d != "" {
					t.Errorf("%s (-read again +remembered):\n%s", svcs[i].Name, d)
				}
			}
		})
	}
}

// stackText is a stack to compare.
func stackText(s *stack.Stack) string {
	return cases.Text(s, func(field any) string {
		text, _ := json.Marshal(field) // fields of specs are data
		return string(text)
	})
}
