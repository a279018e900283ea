package aws_test

import (
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/elbv2"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const (
	// provisioning is how long the simulated cloud makes a Network Load Balancer.
	provisioning = 3 * time.Minute
	// remembered is how long clients use a name that they have resolved.
	remembered = 59 * time.Second
)

// move is a Service that moves to a load balancer of another kind while clients connect.
type move struct {
	*traffic
	replacing time.Time // since when the Service says that both serve; zero: it does not
	host      string    // by which clients come
	old       string    // the address of clients that have not resolved the name again
	changed   time.Time // when the name changed
}

func newMove(t *testing.T) *move {
	running := simtest.Start(t, simaws.Options{
		Seed: simaws.SeedOptions{Nodes: 3}, ELBV2: elbv2.Options{Delays: elbv2.Delays{Provisioning: provisioning, Healthy: firstChecks}},
	})
	m := &move{traffic: &traffic{
		T: t, cloud: elasticloadbalancingv2.NewFromConfig(running.Config),
		subject: podded{subject{running: running, config: controllerConfig, notes: berth.NewNotes(fake.NewClientset())}},
	}}
	m.restart()
	return m
}

// gates count, as those of the controller, from when the Service says that both serve.
func (m *move) gates(g plan.Gate) time.Duration {
	if m.replacing.IsZero() {
		return g.After
	}
	return time.Until(m.replacing.Add(g.After))
}

// note keeps of a run what the Service would carry.
func (m *move) note(res reconcile.Result) {
	_, switching := conditions.Replacing(res)
	_, _, lingering := conditions.Lingering(res)
	switch {
	case !switching && !lingering:
		m.replacing = time.Time{}
	case m.replacing.IsZero():
		m.replacing = time.Now()
	}
	if in := res.Status.Ingress; len(in) > 0 && in[0].Hostname != m.host {
		m.old, m.host, m.changed = m.host, in[0].Hostname, time.Now()
	}
}

// to brings the Service to what it asks for.
func (m *move) to(svc *corev1.Service, look bool) {
	m.Helper()
	for range 300 {
		d, err := m.r.Draft(m.Context(), reconcile.Job{Service: svc, Slices: m.subject.Slices(svc)})
		if err != nil {
			m.Fatal(err)
		}
		res := m.r.Run(m.Context(), d, m.gates)
		if res.Err != nil {
			m.Fatal(res.Err)
		}
		m.note(res)
		for range max(1, int(min(res.Wait, 10*time.Second)/time.Second)) {
			if look {
				m.serves(m.host)
				if time.Since(m.changed) < remembered {
					m.serves(m.old)
				}
			}
			time.Sleep(time.Second)
		}
		if res.Clean {
			return
		}
	}
	m.Fatal("not as wanted after 300 rounds")
}

// serves fails where no load balancer of the name exists, or a Network Load Balancer is
// not active yet, or sends to no healthy target.
func (m *move) serves(host string) {
	m.Helper()
	classic, err := elasticloadbalancing.NewFromConfig(m.subject.running.Config).DescribeLoadBalancers(m.Context(), &elasticloadbalancing.DescribeLoadBalancersInput{})
	if err != nil {
		m.Fatal(err)
	}
	for _, lb := range classic.LoadBalancerDescriptions {
		if awssdk.ToString(lb.DNSName) == host {
			return
		}
	}
	network, err := m.cloud.DescribeLoadBalancers(m.Context(), &elasticloadbalancingv2.DescribeLoadBalancersInput{})
	if err != nil {
		m.Fatal(err)
	}
	for _, lb := range network.LoadBalancers {
		if awssdk.ToString(lb.DNSName) != host {
			continue
		}
		if lb.State.Code != types.LoadBalancerStateEnumActive {
			m.Errorf("%s is named, and %s", host, lb.State.Code)
		}
		m.look()
		return
	}
	m.Errorf("%s is named, and no load balancer has that name", host)
}

// TestMoveKeepsServing: clients of a Service that moves to a load balancer of another
// kind see the new one when it can serve them; the old one stays until they have
// resolved the new name.
func TestMoveKeepsServing(t *testing.T) {
	setCredentials(t)
	one := func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }
	classic := serviceCase("move", nil, one)
	for name, network := range map[string]props.Case{
		"nlb":         serviceCase("move", map[string]string{"aws-load-balancer-type": "nlb"}, one),
		"nlb-lbc":     serviceCase("move", map[string]string{"aws-load-balancer-type": "external", "aws-load-balancer-nlb-target-type": "instance"}, one),
		"nlb-lbc, ip": serviceCase("move", map[string]string{"aws-load-balancer-type": "external", "aws-load-balancer-nlb-target-type": "ip"}, one),
	} {
		virtual.Run(t, name, func(t *testing.T) {
			m := newMove(t)
			m.to(classic.Service, false)
			time.Sleep(2 * time.Minute)
			before := m.host
			m.to(network.Service, true)
			if m.host == before || m.host == "" {
				t.Errorf("clients come by %q in the end, and came by %q", m.host, before)
			}
			time.Sleep(time.Minute)
			m.to(classic.Service, true) // and back
		})
	}
}
