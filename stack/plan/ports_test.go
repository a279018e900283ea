package plan_test

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack/plan"
)

// TestTraffic: a plan shows one line for each port, with steps by the names that it uses.
func TestTraffic(t *testing.T) {
	doc := plan.NewDocument("aws", []plan.Plan{createdPlan()}).WithRemarks(plan.Remark{Owner: newOwner("web"), Traffic: []plan.PortDoc{
		{Port: 80, Protocol: "TCP", Family: "IPv4", Effect: plan.Uninterrupted, Opens: []string{"10.0.0.0/8"}},
		{Port: 443, Protocol: "TCP", Family: "IPv4", Effect: plan.Interrupted, Lost: "delete listener/443", Restored: "create listener/443", Moves: true},
		{Port: 8080, Protocol: "TCP", Family: "IPv4", Effect: plan.Interrupted, Lost: "update listener/8080", Restored: "update listener/8080"},
		{Port: 8081, Protocol: "TCP", Family: "IPv4", Effect: plan.Interrupted, Lost: "delete listener/8081"},
		{Port: 8082, Protocol: "TCP", Family: "IPv4", Effect: plan.Briefly, Lost: "update health-check"},
		{Port: 8083, Protocol: "TCP", Family: "IPv6", Closes: []string{"a", "b", "c", "d", "e"}, Missing: []string{"::/0"}},
	}})
	want := `  Traffic:
    80/TCP IPv4   uninterrupted; opens for 10.0.0.0/8
    443/TCP IPv4  interrupted between delete listener/443 and create listener/443; moves to another address
    8080/TCP IPv4 interrupted by update listener/8080
    8081/TCP IPv4 interrupted by delete listener/8081, and not restored by this plan
    8082/TCP IPv4 interrupted for seconds by update health-check
    8083/TCP IPv6 closes for a, b, c, d and 1 more; stays closed for ::/0
`
	if text := plan.Human(doc, plan.Options{Width: 200}); !strings.Contains(text, want) {
		t.Errorf("got:\n%s", text)
	}
	if none := (plan.Document{}).WithRemarks(plan.Remark{Owner: newOwner("web"), Traffic: make([]plan.PortDoc, 1)}); len(none.Plans) != 0 {
		t.Errorf("%v", none)
	}
}
