package wire

import (
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/test/sim/gce/compute"
)

// TestNamesOfMethods: a request is counted under the id by which the simulator,
// which has its own table, writes it down.
func TestNamesOfMethods(t *testing.T) {
	param := regexp.MustCompile(`\{[^}]*\}`)
	routes := compute.New(compute.Options{}).Routes()
	if len(routes) == 0 {
		t.Fatal("no routes")
	}
	for _, route := range routes {
		r := httptest.NewRequest(route.Method, "https://compute.googleapis.com/compute/v1/"+param.ReplaceAllString(route.Path, "x"), nil)
		want := providers.Call{API: "compute", Operation: route.ID}
		if d := cmp.Diff(want, nameOf(r)); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", route.Method, route.Path, d)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		want   providers.Answer
	}{
		"reason":        {403, `{"error":{"errors":[{"reason":"rateLimitExceeded"}]}}`, providers.Answer{Code: "rateLimitExceeded", Meaning: fault.Throttled}},
		"status":        {429, `{}`, providers.Answer{Code: "429", Meaning: fault.Throttled}},
		"no JSON":       {503, `<html>`, providers.Answer{Code: "503", Meaning: fault.Unavailable}},
		"a new refusal": {418, `{"error":{"errors":[{"reason":"teapot"}]}}`, providers.Answer{Code: "teapot", Meaning: fault.Internal}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, refusalOf(tc.status, nil, []byte(tc.body))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
