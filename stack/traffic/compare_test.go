package traffic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
)

// makeFlow returns a flow of one Service to one machine.
func makeFlow(address string, port uint16, from string, backends ...string) Flow {
	f := Flow{Owner: stack.Owner{Namespace: "shop", Name: "web"}, Address: address, Family: IPv4, Port: port, Protocol: "TCP", From: Ranges(from)}
	for _, b := range backends {
		f.To = append(f.To, Backend{b, 30080})
	}
	f.Through = []stack.Key{{Kind: "balancer"}, {Kind: "listener", Name: string(rune('a' + port%26))}}
	return f
}

func TestCompare(t *testing.T) {
	for name, c := range map[string]struct {
		before, after []Flow
		want          string
	}{
		"nothing changes": {
			before: []Flow{makeFlow("192.0.2.1", 80, "0.0.0.0/0", "n1", "n2")},
			after:  []Flow{makeFlow("192.0.2.1", 80, "128.0.0.0/1", "n2"), makeFlow("192.0.2.1", 80, "0.0.0.0/1", "n1")},
		},
		"another port": {
			before: []Flow{makeFlow("192.0.2.1", 80, "0.0.0.0/0", "n1")},
			after:  []Flow{makeFlow("192.0.2.1", 81, "0.0.0.0/0", "n1")},
			want:   "- shop/web 192.0.2.1 80/TCP from 0.0.0.0/0 to n1:30080\n+ shop/web 192.0.2.1 81/TCP from 0.0.0.0/0 to n1:30080\n",
		},
		"clients and backends": {
			before: []Flow{makeFlow("192.0.2.1", 80, "10.0.0.0/8", "n1", "n2")},
			after:  []Flow{makeFlow("192.0.2.1", 80, "10.0.0.0/7", "n2", "n3")},
			want:   "~ shop/web 192.0.2.1 80/TCP: opens to 11.0.0.0/8, gains n3:30080, loses n1:30080\n",
		},
		"no backend left": {
			before: []Flow{makeFlow("192.0.2.1", 80, "10.0.0.0/8", "n1")},
			after:  []Flow{makeFlow("192.0.2.1", 80, "10.0.0.0/9")},
			want:   "~ shop/web 192.0.2.1 80/TCP: closes to 10.128.0.0/9, loses n1:30080, has no backend left\n",
		},
		"no clients are no flow": {
			before: []Flow{makeFlow("192.0.2.1", 80, "10.0.0.0/8", "n1")},
			after:  []Flow{makeFlow("192.0.2.1", 80, "", "n1")},
			want:   "- shop/web 192.0.2.1 80/TCP from 10.0.0.0/8 to n1:30080\n",
		},
		"an address that is not chosen yet": {
			before: []Flow{makeFlow("192.0.2.1", 80, "10.0.0.0/8", "n1")},
			after:  []Flow{makeFlow("balancer", 80, "10.0.0.0/8", "n1")},
			want:   "~ shop/web 192.0.2.1 80/TCP: moves to balancer 80/TCP\n",
		},
	} {
		if d := cmp.Diff(c.want, Compare(c.before, c.after).String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if !Compare(c.after, c.after).Empty() {
			t.Errorf("%s: flows differ from themselves", name)
		}
	}
}

// TestMerge: what several resources let through at one port is one flow.
func TestMerge(t *testing.T) {
	in := []Flow{makeFlow("192.0.2.1", 80, "10.0.0.0/8", "n2", "n1"), makeFlow("192.0.2.1", 80, "11.0.0.0/8", "n1"), makeFlow("192.0.2.1", 79, "", "n1")}
	in[1].Through = append(in[1].Through, stack.Key{Kind: "rule"})
	got := Merge(in)
	if len(got) != 1 || got[0].String() != "shop/web 192.0.2.1 80/TCP from 10.0.0.0/7 to n1:30080, n2:30080" || len(got[0].Through) != 3 {
		t.Errorf("merged: %s through %v", Text(got), got[0].Through)
	}
	if in[0].To[0].Name != "n2" {
		t.Error("the argument was written to")
	}
}
