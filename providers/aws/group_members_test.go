package aws_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
)

// TestGroupPort: of two members that want a port the older one gets it; the other one
// gets a problem and is served on its other ports. It gets the port when the older one
// leaves. A member that has a port keeps it when an older one joins.
func TestGroupPort(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		older, younger := groupMember(0, "front", 80), groupMember(1, "front", 80, 443)
		w.live = []*corev1.Service{older, younger}
		w.restart() // which knows what both want
		res := w.serve(younger)
		if text := fmt.Sprint(res.Draft.Plan.Blocked); !strings.Contains(text, "port 80 of shop/front is asked for by shop/web-0 as well, which is older") {
			t.Errorf("the younger one is told %s", text)
		}
		w.good(older)
		res = w.serve(younger)
		if text := fmt.Sprint(res.Draft.Plan.Blocked); !strings.Contains(text, "port 80 of shop/front is taken by listener/shop/front/tcp-80 of shop/web-0") {
			t.Errorf("the younger one is told %s", text)
		}
		ports := younger.Status.LoadBalancer.Ingress[0].Ports
		if len(ports) != 1 || ports[0].Port != 443 || hostOf(younger) != hostOf(older) {
			t.Errorf("the younger one is served at %v", younger.Status.LoadBalancer.Ingress)
		}
		w.release(older)
		w.good(younger)
		if late := w.serve(older); late.Clean || hostOf(older) != "" {
			t.Errorf("the older one took the port from who has it: %v", older.Status.LoadBalancer.Ingress)
		}
		w.good(younger)
		w.release(younger)
		w.good(older)
	})
}

// TestGroupSay: the oldest member decides the settings of the load balancer, whichever
// joined first; problems of the others name the key, the value and whose value holds.
func TestGroupSay(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		older, younger := groupMember(0, "front", 80), groupMember(1, "front", 443)
		older.Annotations[prefix+"aws-load-balancer-attributes"] = "load_balancing.cross_zone.enabled=true"
		younger.Annotations[prefix+"aws-load-balancer-attributes"] = "load_balancing.cross_zone.enabled=false,deletion_protection.enabled=false"
		younger.Annotations[prefix+"aws-load-balancer-scheme"] = "internet-facing"
		w.good(younger)
		w.good(older) // its scheme is another one, which AWS cannot change
		w.restart()
		res := w.serve(younger)
		want := "load_balancing.cross_zone.enabled=true, as Service shop/web-0 asks, its oldest member"
		if !strings.Contains(fmt.Sprint(res.Draft.Problems), want) || !res.Clean {
			t.Errorf("the younger one is told %v", res.Draft.Problems)
		}
		w.restart()
		w.good(older)
		w.good(younger)
		w.release(older)
		w.restart()
		if w.good(younger); !strings.Contains(w.state(), `"load_balancing.cross_zone.enabled": "false"`) {
			t.Error("the say of the one that is left does not hold")
		}
	})
}

// TestGroupMove: a Service moves into a group, into another one and out again. Its new load
// balancer serves before it leaves the old one, and the other members notice nothing.
func TestGroupMove(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		before := w.state()
		front, back, mover := groupMember(0, "front", 80), groupMember(1, "back", 80), groupMember(2, "", 443)
		w.good(front)
		w.good(back)
		w.good(mover)
		still := append(w.has(front), w.has(back)...)
		for _, group := range []string{"front", "back", "", "front", ""} {
			was := w.has(mover)
			mover.Annotations[groupKey] = group
			if group == "" {
				delete(mover.Annotations, groupKey)
			}
			w.gates = func(plan.Gate) time.Duration { return time.Minute }
			w.run(mover, false)
			both := w.run(mover, false)
			for _, kept := range was {
				if key, _, _ := strings.Cut(kept, " "); strings.HasPrefix(key, "listener/") && !strings.Contains(strings.Join(w.all(mover), "\n"), kept) {
					t.Errorf("to group %q: %s went before the switch", group, kept)
				}
			}
			if len(both.Serves) != 2 {
				t.Errorf("to group %q: %v serve", group, both.Serves)
			}
			w.gates = props.Pass
			w.good(mover)
			if diff := cmp.Diff(still, append(w.has(front), w.has(back)...)); diff != "" {
				t.Errorf("to group %q: others notice (-before +after):\n%s", group, diff)
			}
		}
		for _, svc := range []*corev1.Service{mover, front, back} {
			w.release(svc)
		}
		if diff := cmp.Diff(before, w.state()); diff != "" {
			t.Errorf("something is left (-before +after):\n%s", diff)
		}
	})
}

// all is everything that exists of a Service, whatever is to be done.
func (w *groupWorld) all(svc *corev1.Service) []string {
	w.Helper()
	r := reconcile.New(w.s.Open(w), reconcile.Options{})
	r.SetNodes(w.s.Nodes())
	d, err := r.Draft(w.Context(), w.job(svc))
	if err != nil {
		w.Fatal(err)
	}
	var out []string
	for _, r := range d.Have.Resources {
		out = append(out, r.Key.String()+" "+r.ID)
	}
	return out
}

// TestGroupClients: each member lets its own clients in to its own ports.
func TestGroupClients(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		a, b := groupMember(0, "front", 80), groupMember(1, "front", 80, 443)
		a.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
		b.Spec.LoadBalancerSourceRanges = []string{"198.51.100.0/24"}
		w.good(a)
		w.serve(b)
		rules := func() (out []string) {
			for _, line := range w.all(a) {
				if key, _, _ := strings.Cut(line, " "); strings.HasPrefix(key, "front-security-group-rule/") {
					out = append(out, strings.TrimPrefix(key, "front-security-group-rule/"))
				}
			}
			return out
		}
		if diff := cmp.Diff([]string{"shop/front/tcp/443-443/198.51.100.0/24", "shop/front/tcp/80-80/192.0.2.0/24"}, rules()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		a.Spec.LoadBalancerSourceRanges = []string{"203.0.113.0/24"}
		w.good(a)
		w.release(b)
		if diff := cmp.Diff([]string{"shop/front/tcp/80-80/203.0.113.0/24"}, rules()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestGroupRefused: a member with a mistake gets a problem, and disturbs no other
// member, whether it was served before or not.
func TestGroupRefused(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		bad, good := groupMember(0, "front", 80), groupMember(1, "front", 443)
		w.good(bad)
		w.good(good)
		was, badWas := w.has(good), w.has(bad)
		bad.Annotations[prefix+"aws-load-balancer-attributes"] = "nonsense"
		w.restart()
		w.serve(bad)
		w.good(good)
		never := groupMember(2, "front", 443, 22)
		never.Annotations[prefix+"aws-load-balancer-attributes"] = "nonsense"
		w.serve(never)
		w.good(good)
		if diff := cmp.Diff(was, w.has(good)); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(badWas, w.has(bad)); diff != "" {
			t.Errorf("the refused one lost something (-before +after):\n%s", diff)
		}
	})
}
