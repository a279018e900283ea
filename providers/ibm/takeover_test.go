package ibm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// TestTakeOverOfARenamed: the official controller creates a second load balancer when vpc-lb-name
// changes, and puts its host name into the status. That one is taken over, and not the first one.
func TestTakeOverOfARenamed(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		o := official{onIBM().Subject(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 6, ClusterID: "berth-demo"}})}
		before := props.State(t, o.Control())
		repeatCalls(t, o.subject)
		for _, svc := range props.Documents[corev1.Service](t, officialState+"services.yaml") {
			created := creationOf(t, svc)
			if svc.Name == "alb-plain" || created == "" || svc.Annotations[prefix+"vpc-lb-name"] != "" {
				continue
			}
			var second struct {
				Hostname string `json:"hostname"`
			}
			usual := "kube-berth-demo-" + strings.ReplaceAll(string(svc.UID), "-", "")
			answer, err := http.Post(o.Sim.URL+"/v1/load_balancers?generation=2&version=2026-01-27", "application/json", strings.NewReader(strings.Replace(created, usual, "renamed", 1)))
			if err != nil || json.NewDecoder(answer.Body).Decode(&second) != nil || answer.Body.Close() != nil || second.Hostname == "" {
				t.Fatalf("%v %v", err, second)
			}
			metav1.SetMetaDataAnnotation(&svc.ObjectMeta, prefix+"vpc-lb-name", "renamed")
			svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: second.Hostname}}
			if writes, _ := props.TakeOver(t, o, []*corev1.Service{svc}); len(writes) > 0 {
				t.Errorf("%s: %v", svc.Name, writes)
			}
			if left, _ := json.Marshal(props.State(t, o.Control())); strings.Contains(string(left), second.Hostname) || strings.Contains(string(left), usual) {
				t.Errorf("%s: a load balancer is left after the release (-before +after):\n%s", svc.Name, cmp.Diff(before, props.State(t, o.Control())))
			}
			return
		}
		t.Fatal("no Service that has kept its ports")
	})
}

// creationOf returns the body of the call that created the load balancer of a Service, if the pools of the
// call are those of the Service today.
func creationOf(t *testing.T, svc *corev1.Service) string {
	t.Helper()
	calls, err := os.ReadFile(officialState + "requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(calls)) {
		_, body, _ := strings.Cut(line, " {")
		if !strings.Contains(body, `"name":"kube-berth-demo-`+strings.ReplaceAll(string(svc.UID), "-", "")+`"`) {
			continue
		}
		for _, p := range svc.Spec.Ports {
			if !strings.Contains(body, fmt.Sprintf(`"tcp-%d-%d"`, p.Port, p.NodePort)) {
				return ""
			}
		}
		return "{" + body
	}
	return ""
}
