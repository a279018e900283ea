package alibaba_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// officialState and officialNet hold what the official controller (kubernetes/cloud-provider-alibaba-cloud eeb0ddc) has
// built and changed on the simulator, Classic and network load balancers: its writing calls, in their order, and the
// Services as it has left them.
const (
	officialState = "testdata/official-ccm/"
	officialNet   = "testdata/official-nlb/"
)

// official is an account in which that controller has served until now.
type official struct {
	account.Subject[simulated]
	slices map[string][]*discoveryv1.EndpointSlice
}

// Nodes are three of four: the last one was excluded by a label.
func (o official) Nodes() []nodeports.Node { return o.Subject.Nodes()[:3] }

func (o official) Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice { return o.slices[svc.Name] }

// repeatCalls makes the writing calls of that controller again. Identifiers follow from the order of the calls.
func repeatCalls(t *testing.T, s account.Subject[simulated], state string) {
	t.Helper()
	body, err := os.ReadFile(state + "requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		params, err := url.ParseQuery(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Sim.URL+"/?"+s.Sim.Cloud.Seed.Sign(params), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= http.StatusMultipleChoices || answer.Body.Close() != nil {
			t.Fatalf("%s: %s %s %v", line, answer.Status, said, err)
		}
	}
}

// TestTakeOverOfTheController: no resource that the official controller has built is written, and all of
// them are deleted with the Services, except what stays of a load balancer of the user.
func TestTakeOverOfTheController(t *testing.T) {
	for state, least := range map[string]int{officialState: 20, officialNet: 25} {
		virtual.Run(t, state, func(t *testing.T) { takeOver(t, state, least) })
	}
}

func takeOver(t *testing.T, state string, least int) {
	t.Helper()
	o := official{onAlibaba().Subject(t, simalibaba.Options{Gates: "IPv6DualStack=true", Seed: simalibaba.SeedOptions{Nodes: 4, Users: true}}), map[string][]*discoveryv1.EndpointSlice{}}
	before := props.State(t, o.Control())
	repeatCalls(t, o.Subject, state)
	served := props.Documents[corev1.Service](t, state+"services.yaml")
	for _, slice := range props.Documents[discoveryv1.EndpointSlice](t, state+"slices.yaml") {
		name := slice.Labels[discoveryv1.LabelServiceName]
		o.slices[name] = append(o.slices[name], slice)
	}
	for _, svc := range served { // all of them are deleted at the end
		delete(svc.Annotations, prefix+"preserve-lb-on-delete")
	}
	writes, _ := props.TakeOver(t, o, served)
	for _, call := range writes {
		t.Errorf("%s %v", call.Operation, call.Request)
	}
	if len(served) < least {
		t.Errorf("%d Services", len(served))
	}
	// The official controller marks a load balancer of the user, and leaves the mark as well.
	for _, lb := range o.Sim.Cloud.Balancers() {
		o.Sim.Cloud.Untag(lb, "kubernetes.reused.by.user")
	}
	if left := props.State(t, o.Control()); left != before {
		t.Errorf("left (-before +after):\n%s", cmp.Diff(before, left))
	}
}
