package model

import (
	"fmt"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// TestCrash: a process stops after each of its calls. The next process, which has no state,
// reaches a stable state, and a release then, or at once, leaves nothing behind.
func TestCrash(t *testing.T) {
	for _, c := range buildableCases(t) {
		if c.config.PreConfigured != "" || len(c.world.Balancers)+len(c.world.Links) > 0 {
			continue
		}
		for calls := range 12 {
			for _, release := range []bool{false, true} {
				t.Run(fmt.Sprint(c.Name, "/", calls, "/", release), func(t *testing.T) {
					a, book := c.arm(t)
					tn := c.tenant(c.service)
					owner := tn.in.Owner
					others, made := a.state(), !a.have(owner).Empty()
					a.together(map[stack.Owner]*tenant{owner: tn}, book, calls)
					book = cases.ReadyLedger()
					if !release {
						if _, refused := a.settle(owner, tn, book); len(refused) > 0 {
							return // waits for others
						}
						if p := a.plan(owner, tn, book); !p.Empty() {
							t.Fatalf("not at rest:\n%s", planText(p))
						}
					}
					a.settle(owner, nil, cases.ReadyLedger())
					for _, r := range a.have(owner).Resources {
						if r.Proof != stack.None {
							t.Errorf("left: %s", r.Key)
						}
					}
					for _, o := range c.world.PublicIPs {
						delete(a.pips, lowerCase(GroupOf(Object(o).Text("id"))+"/"+Object(o).Text("name")))
					}
					if c.config.PodIP() {
						if got := a.state(); !made && got != others {
							t.Errorf("was\n%s\nand is\n%s", others, got)
						}
						return
					}
					if len(a.lbs)+len(a.pips)+len(a.links)+len(a.members) > 0 || len(a.open()) > 0 {
						t.Errorf("left:\n%s", a.state())
					}
				})
			}
		}
	}
}
