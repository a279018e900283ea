package model

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// TestForecast: what is foretold before the first write is what the security group
// has for the new addresses at the end, and nothing is foretold then.
func TestForecast(t *testing.T) {
	foretold := 0
	for _, c := range buildableCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			a, book := c.arm(t)
			tn := c.tenant(c.service)
			first, _, _ := buildStack(tn.in, a.read(), a.have(tn.in.Owner))
			got := forecastRules(tn.in, a.read(), a.have(tn.in.Owner))
			_, refused := a.settle(tn.in.Owner, tn, book)
			if len(refused) > 0 {
				return // waits for others
			}
			last, _, _ := buildStack(tn.in, a.read(), a.have(tn.in.Owner))
			now := map[string]bool{}
			for r, spec := range stack.Each[Access](last, KindAccess) {
				if _, known := first.Get(r.Key); !known {
					now["once "+unknownAddress(corev1.IPFamily(spec.Family))+" is known, "+spec.inWords()] = true
				}
			}
			told := map[string]bool{}
			for _, text := range got {
				told[text] = true
			}
			if len(first.Resources) == 0 || losesResource(first, last) {
				return // a deletion precedes a creation: of known addresses, or of retained rules
			}
			if d := cmp.Diff(now, told); d != "" {
				t.Errorf("(-what came +what was foretold):\n%s", d)
			}
			foretold += len(told)
			if still := forecastRules(tn.in, a.read(), a.have(tn.in.Owner)); len(still) > 0 {
				t.Errorf("foretold at the end: %q", still)
			}
		})
	}
	if foretold < 30 {
		t.Errorf("%d rules were foretold: the cases show too little", foretold)
	}
}

// TestForecastWords shows what the user reads.
func TestForecastWords(t *testing.T) {
	want := map[string][]string{
		"public-basic": {"once the IPv4 address is known, security group nsg opens TCP 80 of it to Internet"},
		"public-ranges-deny": {
			"once the IPv4 address is known, security group nsg opens TCP 80 of it to 203.0.113.0/24",
			"once the IPv4 address is known, security group nsg denies all other clients",
		},
		"public-no-security-rules": nil,
		"internal-basic":           nil,
	}
	for _, c := range loadCases(t) {
		if _, listed := want[c.Name]; !listed {
			continue
		}
		a, _ := c.arm(t)
		tn := c.tenant(c.service)
		if d := cmp.Diff(want[c.Name], forecastRules(tn.in, a.read(), a.have(tn.in.Owner))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.Name, d)
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("there is no such case: %v", want)
	}
}

// losesResource reports whether a resource of the first stack is missing from the last
// one.
func losesResource(first, last *stack.Stack) bool {
	return slices.ContainsFunc(first.Resources, func(r stack.Resource) bool {
		_, wanted := last.Get(r.Key)
		return !wanted
	})
}
