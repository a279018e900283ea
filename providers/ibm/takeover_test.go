package ibm_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/test/props"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// officialState holds what the open cloud-controller-manager of IBM Cloud (openshift/cloud-provider-ibm
// ef8fcc2) has built and changed on the simulator, for Services of all forms that it serves: its
// writing calls, in their order, and the Services. The last of six nodes was excluded.
const officialState = "testdata/official-ccm/"

// official is an account in which that controller has served until now.
type official struct{ subject }

func (o official) Nodes() []nodeports.Node { return o.subject.Nodes()[:5] }

// repeatCalls makes the writing calls of that controller again. Identifiers follow from the
// order of the calls.
func repeatCalls(t *testing.T, s subject) {
	t.Helper()
	body, err := os.ReadFile(officialState + "requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		method, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, parameters, _ := strings.Cut(rest, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, s.Sim.URL+path, strings.NewReader(parameters))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= http.StatusMultipleChoices || answer.Body.Close() != nil {
			t.Fatalf("%s %s %s: %s %s %v", method, path, parameters, answer.Status, said, err)
		}
	}
}

// TestTakeOverOfTheController: no resource that the official controller built is written, its
// subnets included, which it matches by parts of names; all of them are deleted with the
// Services. The exceptions are the pools of ports that were added later: that controller
// creates them without the PROXY protocol that the Service asks for, and corrects them in its
// next run.
func TestTakeOverOfTheController(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		o := official{onIBM().Subject(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 6, ClusterID: "berth-demo"}})}
		before := props.State(t, o.Control())
		repeatCalls(t, o.subject)
		served := props.Documents[corev1.Service](t, officialState+"services.yaml")
		writes, left := props.TakeOver(t, o, served)
		corrected := map[string]bool{}
		for _, call := range writes {
			if name := call.Request["name"]; call.Operation == "update_load_balancer_pool" && (strings.HasPrefix(name, "tcp-8443-") || strings.HasPrefix(name, "tcp-81-")) {
				corrected[name] = true
				continue
			}
			t.Errorf("%s %v", call.Operation, call.Request)
		}
		if len(corrected) != 2 {
			t.Errorf("corrected %v", corrected)
		}
		if len(served) < 15 {
			t.Errorf("%d Services", len(served))
		}
		if left != before {
			t.Errorf("left (-before +after):\n%s", cmp.Diff(before, left))
		}
	})
}
