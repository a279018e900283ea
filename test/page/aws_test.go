package page

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
)

// running is a simulated AWS with one Service that is served.
type running struct {
	*account
	*simtest.Running
}

func startAWS(t *testing.T) running {
	t.Helper()
	for key, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "simulated", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(key, value)
	}
	r := running{Running: simtest.StartLoopback(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 2}})}
	r.account = &account{entry: providers.EntryOf(aws.Cloud()), url: r.URL, nodes: r.Cloud.Seed.KubernetesNodes()}
	r.serve(t, map[string]string{"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"}, func(dir string) error { return r.Cloud.Seed.WriteFiles(dir, r.URL) })
	return r
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

// TestGraphOfAWS compares the graph on the page with the state of the simulator, and deletes the
// load balancer by hand.
func TestGraphOfAWS(t *testing.T) {
	b := startBrowser(t)
	a := startAWS(t)
	state := stateOf[cloudState](t, a.url)
	wantIDs, wantEdges := state.edges()
	b.compare(t, a.account, []string{"network-load-balancer", "listener", "target-group"}, 5, wantIDs, wantEdges)
	if v := b.violations(t); len(v) > 0 {
		t.Errorf("axe-core finds %v", v)
	}

	client := elasticloadbalancingv2.NewFromConfig(a.Config)
	for arn := range state.ELBV2.LoadBalancers {
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
