package wire

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestListsHoldWrites verifies that cached lists include later writes, also where the lists
// were read at the same time, and that a write with an unknown result drops them.
func TestListsHoldWrites(t *testing.T) {
	const network = "/subscriptions/s/resourceGroups/G/providers/Microsoft.Network/"
	ip := func(name, etag string) model.Object {
		return model.Object{"name": name, "etag": etag, "id": network + "publicIPAddresses/" + name, "properties": map[string]any{"ipAddress": "52.0.0.1"}, "tags": map[string]any{"k8s-azure-service": "default/web"}}
	}
	security := func(address string) model.Object {
		rule := model.Object{"properties": map[string]any{"destinationAddressPrefix": address}}
		return model.Object{"properties": map[string]any{"securityRules": []any{map[string]any(rule)}}}
	}
	users := func(name, address string) model.Object {
		return model.Object{"name": name, "etag": "1", "id": network + "publicIPAddresses/" + name, "properties": map[string]any{"ipAddress": address}}
	}
	frontend := map[string]any{"properties": map[string]any{"publicIPAddress": map[string]any{"id": network + "publicIPAddresses/Y"}}}
	read := lists{
		balancers: []model.Object{{"name": "lb", "id": network + "loadBalancers/lb", "properties": map[string]any{"frontendIPConfigurations": []any{frontend}}}}, security: security("52.0.0.2"),
		byGroup: map[string][]model.Object{"g": {ip("a", "1"), ip("b", "1")}, "users": {users("x", "52.0.0.8"), users("y", "52.0.0.9")}}, linksIn: map[string][]model.Object{"g": nil},
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	refused := errors.New("no")
	for name, tc := range map[string]struct {
		writes []write
		want   []string // public IPs with etags; nil: nothing is known
	}{
		"nothing":                  {nil, []string{"a 1", "b 1"}},
		"changed":                  {[]write{{path: network + "publicIPAddresses/A", object: ip("a", "2")}}, []string{"a 2", "b 1"}},
		"made":                     {[]write{{path: network + "publicIPAddresses/c", object: ip("c", "1")}}, []string{"a 1", "b 1", "c 1"}},
		"deleted":                  {[]write{{path: network + "publicIPAddresses/b"}}, []string{"a 1"}},
		"made and deleted":         {[]write{{path: network + "publicIPAddresses/c", object: ip("c", "1")}, {path: network + "publicIPAddresses/c"}}, []string{"a 1", "b 1"}},
		"in another group":         {[]write{{path: "/subscriptions/s/resourceGroups/h/providers/Microsoft.Network/publicIPAddresses/b"}}, []string{"a 1", "b 1"}},
		"a machine":                {[]write{{path: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v", object: model.Object{}}}, nil},
		"a subnet":                 {[]write{{path: network + "virtualNetworks/v/subnets/s", unsure: true}}, []string{"a 1", "b 1"}},
		"opened for one of them":   {[]write{{path: network + "networkSecurityGroups/n", object: security("52.0.0.1")}}, []string{"a 1", "b 1"}},
		"opened for one before":    {[]write{{path: network + "networkSecurityGroups/n", object: security("52.0.0.2")}}, []string{"a 1", "b 1"}},
		"opened for a user's":      {[]write{{path: network + "networkSecurityGroups/n", object: security("52.0.0.9")}}, []string{"a 1", "b 1"}},
		"opened for an unused one": {[]write{{path: network + "networkSecurityGroups/n", object: security("52.0.0.8")}}, nil},
		"opened for a stranger":    {[]write{{path: network + "networkSecurityGroups/n", object: security("52.0.0.3")}}, nil},
		"a pool":                   {[]write{{path: network + "loadBalancers/lb/backendAddressPools/p", object: model.Object{}}}, []string{"a 1", "b 1"}},
		"a pool of addresses made": {[]write{{path: network + "loadBalancers/lb/migrateToIpBased"}}, nil},
		"a private link service":   {[]write{{path: network + "privateLinkServices/p", object: model.Object{}}}, nil},
		"refused":                  {[]write{{path: network + "publicIPAddresses/b", unsure: true}}, nil},
		"refused, then once again": {[]write{{path: network + "publicIPAddresses/b", unsure: true}, {path: network + "publicIPAddresses/b"}}, nil},
	} {
		for _, when := range []string{"after the read", "while reading"} {
			t.Run(name+" "+when, func(t *testing.T) {
				var m listMemory
				mark, other := m.begin(now), m.begin(now)
				if when == "after the read" {
					m.end(mark, read, now, true)
				}
				for _, w := range tc.writes {
					var err error
					if w.unsure {
						err = refused
					}
					m.note(w.path, w.object, err, now)
				}
				if when == "while reading" {
					m.end(mark, read, now, true)
				}
				m.end(other, lists{}, now, false)
				known, _, young := m.recall(nil, now.Add(listAge-1))
				var got []string
				for _, o := range known.byGroup["g"] {
					got = append(got, o.Text("name")+" "+o.Text("etag"))
				}
				if !young {
					got = nil
				}
				if d := cmp.Diff(tc.want, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
				if _, _, young := m.recall(nil, now.Add(listAge)); young {
					t.Error("what is too old is still believed")
				}
				if m.reading != 0 || m.writes != nil {
					t.Errorf("%d reads and %d writes are kept", m.reading, len(m.writes))
				}
			})
		}
	}
	if d := cmp.Diff([]model.Object{ip("a", "1"), ip("b", "1")}, read.byGroup["g"]); d != "" {
		t.Errorf("what a reader holds was written to (-want +got):\n%s", d)
	}
}

// TestListsOutlastWrites verifies that the result of a slow write is cached for as long as
// the result of a quick one, but not for ever, and not for a caller that has read since.
func TestListsOutlastWrites(t *testing.T) {
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var m listMemory
	mark := m.begin(began)
	m.end(mark, lists{byGroup: map[string][]model.Object{"g": nil}}, began, true)
	service := stack.Owner{Namespace: "shop", Name: "web", UID: "1"}
	look := []providers.Scope{{
		Owner: service, Own: []providers.Lookup{{Kind: model.KindBalancer}}, Facts: []providers.Lookup{{Kind: model.KindBalancer, By: model.ByWanted}},
	}}
	if _, _, young := m.recall(look, began.Add(time.Second)); !young {
		t.Error("what was just read is not believed")
	}
	for _, after := range []time.Duration{3 * time.Second, 20 * time.Second, oldestList} {
		want := after < oldestList
		m.note("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/a", model.Object{}, nil, began.Add(after))
		if _, _, young := m.recall(nil, began.Add(after+time.Second)); young != want {
			t.Errorf("after a write of %v: believed %v, want %v", after, young, want)
		}
		if _, _, young := m.recall(look, began.Add(after+time.Second)); young {
			t.Errorf("after a write of %v one who looks again is told the same", after)
		}
		if _, _, young := m.recall(nil, began.Add(after+listAge)); young {
			t.Errorf("what is too old is believed %v after a write of %v", listAge, after)
		}
	}
}

// TestFactsComeFromMemory verifies that the second plan of a Service costs no call and
// includes the writes of this process. A Service that names a public IP finds one that was
// created a moment ago.
func TestFactsComeFromMemory(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		svc := numberedService(1, model.Public, nil)
		facts := func() *model.Facts {
			s, err := model.Cloud().Scope(r.Input(svc))
			if err != nil {
				t.Fatal(err)
			}
			s.Own = nil
			found := r.Session.Read(t.Context(), []providers.Scope{s})[0]
			if found.Err != nil {
				t.Fatal(found.Err)
			}
			return found.Facts
		}
		calls := func() int { return len(r.sim.Cloud.Journal.Entries()) }
		r.AllTogether(false, svc, numberedService(2, model.Public, nil))
		n := calls()
		again := facts()
		if made := calls() - n; made != 0 {
			t.Errorf("%d calls for facts that are known", made)
		}
		r.Session.memory = listMemory{}
		before := facts() // from a new read
		// What uses a public IP counts only where no Service does, and that is a write of its own.
		if d := cmp.Diff(before, again, cmpopts.IgnoreFields(model.FoundIP{}, "Attached")); d != "" {
			t.Errorf("(-read again +remembered):\n%s", d)
		}
		if !slices.ContainsFunc(again.Balancers, func(lb model.FoundBalancer) bool { return lb.Name == "kubernetes" && len(lb.Frontends) == 2 }) || len(again.PublicIPs) < 2 {
			t.Errorf("what was written is not there: %+v", again)
		}
		mine, err := r.Session.put(t.Context(), r.Config.PublicIPID(stack.Key{Kind: model.KindPublicIP, Name: r.Config.Group + "/mine"}), model.Object{
			"location": r.Config.Location, "sku": map[string]any{"name": "Standard"}, "properties": map[string]any{"publicIPAllocationMethod": "Static"},
		}, "")
		if err != nil {
			t.Fatal(err)
		}
		n = calls()
		if now := facts(); calls() != n || !slices.ContainsFunc(now.PublicIPs, func(ip model.FoundIP) bool { return ip.Name == "mine" }) {
			t.Errorf("%d calls; what this process has made since is known: %+v", calls()-n, now.PublicIPs)
		}
		svc.Annotations["service.beta.kubernetes.io/azure-pip-name"] = mine.Text("name")
		if facts(); calls() == n {
			t.Error("the public IP that the user names was not looked for")
		}
		delete(svc.Annotations, "service.beta.kubernetes.io/azure-pip-name")
		third := numberedService(3, model.Public, nil)
		for i, made := range []bool{false, true} {
			n = calls()
			if r.Read(false, third); (calls() != n) != made {
				t.Errorf("look %d of a new Service: %d calls; the first needs none, the second is a doubt", i+1, calls()-n)
			}
		}
		if n = calls(); len(r.Read(true, third)[0].Have.Resources) > 0 || calls() == n {
			t.Error("that nothing is left was not read")
		}
		n, r.Now = calls(), r.Now.Add(listAge)
		if facts(); calls() == n {
			t.Error("what is too old was not read again")
		}
	})
}
