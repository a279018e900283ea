package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	simgce "github.com/berth-lb/berth/test/sim/gce"
)

// googleClient makes calls of the simulated Google Cloud without a network.
type googleClient struct {
	*testing.T
	cloud *simgce.Cloud
}

func (g googleClient) do(method, path, body string) string {
	g.Helper()
	answer := httptest.NewRecorder()
	g.cloud.ServeHTTP(answer, httptest.NewRequestWithContext(g.Context(), method, path, strings.NewReader(body)))
	if answer.Code >= http.StatusBadRequest {
		g.Fatalf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// named is how often the dump has the mark, as the harness reads it.
func (g googleClient) named(mark string) int {
	g.Helper()
	var dump json.RawMessage
	if err := json.Unmarshal([]byte(g.do(http.MethodGet, "/_sim/state", "")), &dump); err != nil {
		g.Fatal(err)
	}
	return strings.Count(string(dump), mark)
}

// TestMark: the dump of Google Cloud has the mark of a node once more with every pool or
// group that the node is in, whatever its kind calls a member.
func TestMark(t *testing.T) {
	const (
		project  = "/compute/v1/projects/berth-demo/"
		global   = "https://www.googleapis.com/compute/v1/projects/berth-demo/"
		zone     = "zones/us-central1-a/"
		instance = global + zone + "instances/berth-demo-node-1"
	)
	pool := [3]string{"regions/us-central1/targetPools", `{"name":"it"}`, `/it/addInstance {"instances":[{"instance":"` + instance + `"}]}`}
	group := [3]string{
		zone + "instanceGroups", `{"name":"it","network":"` + global + `global/networks/default"}`,
		`/it/addInstances {"instances":[{"instance":"` + instance + `"}]}`,
	}
	endpoints := [3]string{
		zone + "networkEndpointGroups",
		`{"name":"it","networkEndpointType":"GCE_VM_IP","network":"` + global + `global/networks/default","subnetwork":"` + global + `regions/us-central1/subnetworks/default"}`,
		`/it/attachNetworkEndpoints {"networkEndpoints":[{"instance":"berth-demo-node-1"}]}`,
	}
	node := corev1.Node{Spec: corev1.NodeSpec{ProviderID: "gce://berth-demo/us-central1-a/berth-demo-node-1"}}
	for kind, calls := range map[string][3]string{"target-pool": pool, "netlb-rbs": group, "ilb-ig": group, "ilb-neg": endpoints} {
		t.Run(kind, func(t *testing.T) {
			cloud, err := simgce.New(simgce.Options{Seed: simgce.SeedOptions{Nodes: 2}})
			if err != nil {
				t.Fatal(err)
			}
			g := googleClient{t, cloud}
			all := newSubjects()
			s := all[slices.IndexFunc(all, func(s subject) bool { return s.cloud == "gce" && s.kind == kind })]
			g.do(http.MethodPost, project+calls[0], calls[1])
			before := g.named(s.mark(node))
			path, body, _ := strings.Cut(calls[2], " ")
			g.do(http.MethodPost, project+calls[0]+path, body)
			if got := g.named(s.mark(node)); got != before+1 {
				t.Errorf("%s is there %d times, %d before the node became a member", s.mark(node), got, before)
			}
		})
	}
}
