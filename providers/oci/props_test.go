//go:debug rsa1024min=0

package oci_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/providers/oci"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// subject is a simulated tenancy.
type subject struct {
	beside  bool // the annotations of the other clouds are known, as in the program
	running *simtest.Running
	config  string                     // added to the cloud configuration
	edit    func(config []byte) []byte // of the cloud configuration; nil: none
	tokens  func(ctx context.Context, namespace, account string) (providers.AccountToken, error)
	now     func() time.Time // nil: the real time
}

func (s subject) Open(t testing.TB) providers.Bound {
	t.Helper()
	file, err := s.running.Cloud.Seed.CloudConf(s.running.URL, key(), "20:3b:97:13:55:1c")
	if err != nil {
		t.Fatal(err)
	}
	// The rates of the official controller are for a tenancy, and would slow the tests.
	file = fmt.Appendf(file, "rateLimiter: {disableRateLimiter: true}\n%s", s.config)
	if s.edit != nil {
		file = s.edit(file)
	}
	entry := entryOnce()
	if s.beside {
		var err error
		if entry, err = all.Find("oci"); err != nil {
			t.Fatal(err)
		}
	}
	cloud, problems, err := entry.Open(t.Context(), bytes.NewReader(file), providers.Env{Cluster: "kubernetes", Now: s.now, Tokens: s.tokens})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cloud
}

// entryOnce returns the cloud with its declarations, which are parsed once.
var entryOnce = sync.OnceValue(func() providers.Entry { return providers.EntryOf(oci.Cloud()) })

// key is an API key, the same for all tests: making one takes its time.
var key = sync.OnceValue(func() []byte {
	_, text, _, err := simoci.NewKey(simoci.ShortKey)
	if err != nil {
		panic(err) // there is no randomness
	}
	return text
})

func (s subject) Nodes() []nodeports.Node {
	return props.Project(s.running.Cloud.Seed.KubernetesNodes())
}

func (s subject) Cloud() providers.Entry { return entryOnce() }

func (s subject) KubernetesNodes() []corev1.Node { return s.running.Cloud.Seed.KubernetesNodes() }

func (s subject) Control() *sim.Control { return &s.running.Cloud.Control }

// Answers implements props.Answering.
func (s subject) Answers() []int { return props.AllAnswers() }

func newSubject(t testing.TB) props.Subject {
	t.Helper()
	s := subject{running: simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 6, DualStack: true}})}
	simtest.ForgetWork(s.running.Cloud)
	return s
}

const (
	oldPrefix = "service.beta.kubernetes.io/oci-load-balancer-"
	prefix    = "oci.oraclecloud.com/"
	netPrefix = "oci-network-load-balancer.oraclecloud.com/"
	mapPrefix = "oci-load-balancer.oraclecloud.com/"
)

// annotationPairs returns annotations, given as pairs of keys and values.
func annotationPairs(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

func useClientAffinity(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP }

func mixProtocols(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }

func propsCases() []props.Case {
	none := func(pairs ...string) map[string]string {
		return annotationPairs(append(pairs, prefix+"security-rule-management-mode", "None")...)
	}
	return []props.Case{
		props.Service("plain-none", none()),
		props.Service("flexible", none(oldPrefix+"shape", "flexible", oldPrefix+"shape-flex-min", "10", oldPrefix+"shape-flex-max", "100Mbps")),
		props.Service("nlb", none(prefix+"load-balancer-type", "nlb")),
		props.Service("http", none(oldPrefix+"backend-protocol", "HTTP", prefix+"loadbalancer-policy", "LEAST_CONNECTIONS", oldPrefix+"connection-idle-timeout", "90"), useClientAffinity),
		props.Service("nlb-mixed", none(prefix+"load-balancer-type", "nlb", netPrefix+"is-ppv2-enabled", "true"), mixProtocols),
		props.Service("proxied", none(oldPrefix+"connection-proxy-protocol-version", "2", oldPrefix+"health-check-retries", "5")),
		props.Service("rule-sets", none(oldPrefix+"backend-protocol", "HTTP", prefix+"oci-load-balancer-rule-sets", `{"headers": {"items": [{"action": "ADD_HTTP_REQUEST_HEADER", "header": "x-from", "value": "lb"}]}}`)),
		props.Service("nlb-local", none(prefix+"load-balancer-type", "nlb", netPrefix+"backend-policy", "TWO_TUPLE"), props.Local),
	}
}

func TestProperties(t *testing.T) { props.Run(t, newSubject, propsCases()) }

// TestPropertiesGuarded: rules in security lists and in groups.
func TestPropertiesGuarded(t *testing.T) {
	ranges := func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/8", "192.0.2.0/24"} }
	nlb := func(pairs ...string) map[string]string {
		return annotationPairs(append(pairs, prefix+"load-balancer-type", "nlb")...)
	}
	props.Run(t, newSubject, []props.Case{
		props.Service("lists", nil),
		props.Service("moved", annotationPairs(prefix+"load-balancer-type", "nlb")),
		props.Service("lists-front", annotationPairs(oldPrefix+"security-list-management-mode", "Frontend"), ranges),
	})
	// Rules stay when a Service is given a mode that keeps none, as the official controller
	// has it; so these are moved among each other only.
	props.Run(t, newSubject, []props.Case{
		props.Service("lists-local", nlb(netPrefix+"security-list-management-mode", "All"), props.Local, ranges),
		props.Service("lists-nlb", nlb(netPrefix+"security-list-management-mode", "All")),
	})
	props.Run(t, newSubject, []props.Case{
		props.Service("group", annotationPairs(prefix+"security-rule-management-mode", "NSG"), ranges),
		props.Service("group-nlb", nlb(prefix+"security-rule-management-mode", "nsg"), props.Local),
	})
}

// TestNoWriteWhileBusy: with work requests that take half a second, many Services at once
// are served and deleted without a single refusal.
func TestNoWriteWhileBusy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := subject{running: simtest.Start(t, simoci.Options{Work: 500 * time.Millisecond, Seed: simoci.SeedOptions{Nodes: 3}})}
		var many []props.Case
		for i, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			kind := []string{"lb", "nlb"}[i%2]
			many = append(many, props.Service(name, annotationPairs(prefix+"load-balancer-type", kind)))
		}
		props.Together(t, s, many)
		for _, e := range s.Control().Journal.Entries() {
			if e.Status >= 400 {
				t.Errorf("%s %s was refused: %d %s", e.Service, e.Operation, e.Status, e.Code)
			}
		}
	})
}

// TestPlanned: what `berth plan` shows is what the controller does.
func TestPlanned(t *testing.T) {
	props.Planned(t, newSubject, propsCases(), props.Service("refused", annotationPairs("oci.oraclecloud.com/load-balancer-type", "perhaps")), 60)
}
