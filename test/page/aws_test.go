package page

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/settings"
	"github.com/berth-lb/berth/test/props"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
)

// account is a simulated AWS with one Service that is served.
type account struct {
	*simtest.Running
	entry   providers.Entry
	service *corev1.Service
	dir     string
}

// newAccount serves a Service as the controller does.
func newAccount(t *testing.T) *account {
	t.Helper()
	for key, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "simulated", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true", "KUBECONFIG": "/dev/null",
	} {
		t.Setenv(key, value)
	}
	a := &account{entry: providers.EntryOf(aws.Cloud()), dir: t.TempDir(), Running: simtest.StartLoopback(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 2}})}
	if err := a.Cloud.Seed.WriteFiles(a.dir, a.URL); err != nil {
		t.Fatal(err)
	}
	a.service = props.Service("web", map[string]string{"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"}).Service
	a.service.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
	conf, err := os.ReadFile(filepath.Join(a.dir, "cloud.conf"))
	if err != nil {
		t.Fatal(err)
	}
	bound, _, err := a.entry.Open(t.Context(), bytes.NewReader(conf), providers.Env{Cluster: "kubernetes", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var nodes []nodeports.Node
	for _, n := range a.Cloud.Seed.KubernetesNodes() {
		nodes = append(nodes, nodeports.Project(&n, func(string) bool { return true }))
	}
	process := props.Process(t, bound, nodes)
	for range 10 {
		result, err := props.Work(t.Context(), process, reconcile.Job{Service: a.service})
		if err != nil {
			t.Fatal(err)
		}
		if result.Clean {
			return a
		}
	}
	t.Fatal("the Service has not its desired state after ten runs")
	return nil
}

// source returns what `berth ui` shows of the account. Nothing is kept between two requests.
func (a *account) source(t *testing.T) *offline.Browser {
	t.Helper()
	text, err := yaml.Marshal(a.service)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(a.dir, "service.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	in := offline.Input{Files: []string{file}, NodeFiles: []string{filepath.Join(a.dir, "nodes.yaml")}, Offline: true}
	target := offline.Target{Cloud: a.entry, CloudConfig: filepath.Join(a.dir, "cloud.conf"), ClusterName: "kubernetes", Settings: settings.Settings{DefaultClass: true, OnTakeover: "converge"}}
	return offline.NewBrowser(in, func() offline.Judge { return offline.Judge{Target: target, Now: time.Now()} }, 0, 0)
}

// cloudState is the part of the simulator's state that the test compares.
type cloudState struct {
	ELBV2 struct {
		LoadBalancers, TargetGroups map[string]struct{ ARN string }
		Listeners                   map[string]struct {
			ARN, LoadBalancer string
			Actions           json.RawMessage
		}
	} `json:"elbv2"`
}

func (a *account) state(t *testing.T) (out cloudState) {
	t.Helper()
	resp, err := http.Get(a.URL + "/_sim/state")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// edges returns the identifiers in the cloud, and which of them leads to which.
func (s cloudState) edges() (ids, edges []string) {
	groups := regexp.MustCompile(`arn:[^"]*:targetgroup/[^"]*`)
	for arn := range s.ELBV2.LoadBalancers {
		ids = append(ids, arn)
	}
	for arn := range s.ELBV2.TargetGroups {
		ids = append(ids, arn)
	}
	for arn, listener := range s.ELBV2.Listeners {
		ids = append(ids, arn)
		edges = append(edges, listener.LoadBalancer+" > "+arn)
		for _, group := range groups.FindAllString(string(listener.Actions), -1) {
			edges = append(edges, arn+" > "+group)
		}
	}
	slices.Sort(ids)
	slices.Sort(edges)
	return ids, slices.Compact(edges)
}

// drawn returns the same of the graph on the page.
func (b browser) drawn(t *testing.T) (ids, edges []string) {
	t.Helper()
	known := evaluateIn[map[string]string](t, b, `Object.fromEntries([...document.querySelectorAll('details.resource')].map((d) => [d.id.slice('resource-'.length), d.querySelector('summary code')?.textContent ?? '']))`)
	for _, node := range evaluateIn[[]string](t, b, `[...document.querySelectorAll('g.node')].map((g) => g.dataset.id)`) {
		if strings.HasPrefix(known[node], "arn:") {
			ids = append(ids, known[node])
		}
	}
	for _, edge := range evaluateIn[[][]string](t, b, `[...document.querySelectorAll('path.edge')].map((p) => [p.dataset.from, p.dataset.to])`) {
		from, to := known[edge[0]], known[edge[1]]
		if strings.HasPrefix(from, "arn:") && strings.HasPrefix(to, "arn:") && from != to {
			edges = append(edges, from+" > "+to)
		}
	}
	slices.Sort(ids)
	slices.Sort(edges)
	return slices.Compact(ids), slices.Compact(edges) // attributes have the identifier of their load balancer
}

// TestGraphOfAWS compares the graph on the page with the state of the simulator, and deletes the
// load balancer by hand.
func TestGraphOfAWS(t *testing.T) {
	b := startBrowser(t)
	a := newAccount(t)
	url := servePage(t, a.source(t))
	b.open(t, url, "services/shop/web")
	b.wait(t, `document.querySelector('g.node') !== null`)
	wantIDs, wantEdges := a.state(t).edges()
	ids, edges := b.drawn(t)
	if len(wantIDs) != 5 || !slices.Equal(ids, wantIDs) {
		t.Errorf("the graph has the resources\n%v\nthe cloud\n%v", ids, wantIDs)
	}
	if !slices.Equal(edges, wantEdges) {
		t.Errorf("the graph has the edges\n%v\nthe cloud\n%v", edges, wantEdges)
	}
	if v := b.violations(t); len(v) > 0 {
		t.Errorf("axe-core finds %v", v)
	}

	client := elasticloadbalancingv2.NewFromConfig(a.Config)
	for arn := range a.state(t).ELBV2.LoadBalancers {
		if _, err := client.DeleteLoadBalancer(context.Background(), &elasticloadbalancingv2.DeleteLoadBalancerInput{LoadBalancerArn: &arn}); err != nil {
			t.Fatal(err)
		}
	}
	evaluateIn[bool](t, b, `document.getElementById('reload').click(), true`)
	b.wait(t, `document.querySelector('[data-id="network-load-balancer"].missing.bad') !== null`)
	if got := evaluateIn[string](t, b, `document.querySelector('[data-id="network-load-balancer"]').textContent`); !strings.Contains(got, "missing") {
		t.Errorf("the deleted load balancer is drawn as %q", got)
	}
}
