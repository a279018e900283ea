package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// TestFlows states what each resource does for clients: missing, it closes, unless the
// default rules of Azure admit the virtual network.
func TestFlows(t *testing.T) {
	const inside = "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16"
	owner, pool := stack.Owner{Namespace: "shop", Name: "web"}, PoolKey("lb", "lb")
	open := func(destination string, sources ...string) stack.Resource {
		a := Access{Rule: "allow" + destination, Family: ipv4, Protocol: "Tcp", Sources: sources, Ports: []string{"30080", "80"}, Destination: destination}
		return stack.Resource{Key: accessKey(a.Rule, destination), Ownership: stack.Shared, Spec: a}
	}
	deny := func(destination string) stack.Resource {
		a := Access{Rule: denyName(ipv4), Deny: true, Family: ipv4, Protocol: "*", Destination: destination}
		return stack.Resource{Key: accessKey(a.Rule, destination), Ownership: stack.Shared, Spec: a}
	}
	entries := func(public bool, change func(*Rule)) stack.Resource {
		f := Frontend{Name: "f", Address: "10.1.0.1", Version: ipv4}
		if public {
			f.Address, f.PublicIP = "20.0.0.1", stack.RefTo(PublicIPKey("rg", "ip"))
		}
		r := Rule{Name: "r", Frontend: "f", Pool: "lb", Protocol: "Tcp", FrontendPort: 80, BackendPort: 80, FloatingIP: true}
		change(&r)
		return stack.Resource{Key: EntriesKey("lb"), Spec: Entries{Balancer: "lb", Frontends: []Frontend{f}, Rules: []Rule{r}}}
	}
	whole := func(*Rule) {}
	toNodePort := func(r *Rule) { r.FloatingIP, r.BackendPort = false, 30080 }
	members := stack.Resource{Key: pool, Ownership: stack.Shared, Spec: Pool{Addresses: []PoolAddress{{"n1", "10.1.0.4"}, {"n2", "10.1.0.5"}}}}
	interfaces := stack.Resource{Key: pool, Ownership: stack.Shared, Spec: NICs{Pool: stack.RefTo(pool), Members: []NIC{{Node: "n1"}}}}
	for name, c := range map[string]struct {
		resources []stack.Resource
		want      string
	}{
		"public":               {[]stack.Resource{entries(true, whole), members, open("20.0.0.1", "192.0.2.0/24")}, "shop/web 20.0.0.1 80/TCP from 192.0.2.0/24 to n1:80, n2:80\nshop/web 20.0.0.1 30080/TCP from 192.0.2.0/24 to nothing\n"},
		"no entry":             {[]stack.Resource{entries(true, whole), members}, ""},
		"no frontend":          {[]stack.Resource{open("20.0.0.1", "192.0.2.0/24")}, "shop/web 20.0.0.1 80/TCP from 192.0.2.0/24 to nothing\nshop/web 20.0.0.1 30080/TCP from 192.0.2.0/24 to nothing\n"},
		"no pool":              {[]stack.Resource{entries(false, whole)}, "shop/web 10.1.0.1 80/TCP from " + inside + " to nothing\n"},
		"internal":             {[]stack.Resource{entries(false, whole), members}, "shop/web 10.1.0.1 80/TCP from " + inside + " to n1:80, n2:80\n"},
		"allowed, then denied": {[]stack.Resource{entries(false, whole), members, open("10.1.0.1", "10.9.0.0/16"), deny("10.1.0.1")}, "shop/web 10.1.0.1 80/TCP from 10.9.0.0/16 to n1:80, n2:80\n"},
		"denied":               {[]stack.Resource{entries(false, whole), members, deny("10.1.0.1")}, ""},
		"to one node":          {[]stack.Resource{entries(true, toNodePort), members, open("10.1.0.4", "192.0.2.0/24")}, "shop/web 20.0.0.1 80/TCP from 192.0.2.0/24 to n1:30080\n"},
		"from both":            {[]stack.Resource{entries(true, toNodePort), members, open("10.1.0.4", "192.0.2.0/24"), open("20.0.0.1", "198.51.100.0/24")}, "shop/web 20.0.0.1 80/TCP from 192.0.2.0/24 to n1:30080\nshop/web 20.0.0.1 30080/TCP from 198.51.100.0/24 to nothing\n"},
		"to interfaces":        {[]stack.Resource{entries(true, toNodePort), interfaces, open("10.1.0.4", "192.0.2.0/24")}, "shop/web 20.0.0.1 80/TCP from 192.0.2.0/24 to n1:30080\n"},
		"other address":        {[]stack.Resource{entries(true, toNodePort), members, open("20.0.0.1", "192.0.2.0/24")}, "shop/web 20.0.0.1 80/TCP from 192.0.2.0/24 to nothing\nshop/web 20.0.0.1 30080/TCP from 192.0.2.0/24 to nothing\n"},
		"every port":           {[]stack.Resource{entries(false, func(r *Rule) { r.Protocol, r.FrontendPort, r.BackendPort = protocolAll, 0, 0 }), members}, "shop/web 10.1.0.1 0/ from " + inside + " to n1:0, n2:0\n"},
		"sctp":                 {[]stack.Resource{entries(false, func(r *Rule) { r.Protocol = protocolAll }), members}, "shop/web 10.1.0.1 80/SCTP from " + inside + " to n1:80, n2:80\n"},
		"tag of Azure":         {[]stack.Resource{entries(true, whole), members, open("20.0.0.1", "Storage")}, "shop/web 20.0.0.1 80/TCP from 240.237.223.6/32 to n1:80, n2:80\nshop/web 20.0.0.1 30080/TCP from 240.237.223.6/32 to nothing\n"},
	} {
		s := &stack.Stack{Owner: owner, Resources: c.resources}
		if d := cmp.Diff(c.want, traffic.Text(computeFlows([]*stack.Stack{s}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
