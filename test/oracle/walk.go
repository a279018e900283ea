package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/test/harness"
)

const (
	walkNodes = 3
	// patience bounds a wait for the real cloud.
	patience = 5 * time.Minute
	internal = "service.beta.kubernetes.io/openstack-internal-load-balancer"
	prefix   = "loadbalancer.openstack.org/"
)

// walker is Berth on its walk over the real cloud.
type walker struct {
	*harness.World
	real  *deployment
	cloud *cloud
}

// runBerth makes Berth create, adopt, update and delete load balancers of the real
// cloud, and reads the results there. Replays of faults follow.
func runBerth(ctx context.Context, r *deployment, c *cloud, o options) (err error) {
	// Its simulator only provides the Nodes; no provider calls it.
	world, err := harness.Start(ctx, harness.Options{Cloud: "openstack", Nodes: walkNodes, Progress: os.Stdout})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	w := &walker{World: world, real: r, cloud: c}
	for _, part := range []struct {
		chosen bool
		run    func(context.Context) error
	}{{o.walks, w.walk}, {true, w.replaying(o.faults())}, {o.crash, w.replayCrash}} {
		if !part.chosen {
			continue
		}
		if err := w.configure("cluster"); err != nil {
			return err
		}
		if err := part.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// walk lets Berth serve the Services of the walk from their creation to their deletion.
func (w *walker) walk(ctx context.Context) error {
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"create", w.create}, {"take over", w.takeOver}, {"change", w.change}, {"delete", w.remove}} {
		began, mark := time.Now(), w.mark()
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("walk: %s: %w", part.name, err)
		}
		calls := w.real.journal.since(mark)
		fmt.Printf("walk: %s: %d Services in %.1f s, %d calls, %d of them writes\n", part.name, len(walkServices()), time.Since(began).Seconds(), len(calls), countWrites(calls))
		if err := refusedWrite(calls); err != nil {
			return fmt.Errorf("walk: %s: %w", part.name, err)
		}
	}
	return nil
}

func countWrites(calls []call) int {
	n := 0
	for _, c := range calls {
		if c.write() {
			n++
		}
	}
	return n
}

// refusedWrite returns an error for a write that the cloud has not accepted.
func refusedWrite(calls []call) error {
	var all error
	for _, c := range calls {
		if c.write() && c.status >= http.StatusBadRequest {
			all = errors.Join(all, fmt.Errorf("%s %s was refused: %d", c.method, c.path, c.status))
		}
	}
	return all
}

func newService(name string, annotations map[string]string, change func(*corev1.ServiceSpec), ports ...corev1.ServicePort) corev1.Service {
	s := corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name, Annotations: annotations},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"app": name}, Ports: ports},
	}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

func newPort(protocol corev1.Protocol, number int32) corev1.ServicePort {
	return corev1.ServicePort{Name: strings.ToLower(fmt.Sprintf("%s-%d", protocol, number)), Protocol: protocol, Port: number, TargetPort: intstr.FromInt32(8080)}
}

// walkServices are one of each sort.
func walkServices() []corev1.Service {
	local := func(s *corev1.ServiceSpec) { s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal }
	monitored := map[string]string{prefix + "enable-health-monitor": "true"}
	return []corev1.Service{
		newService("web", nil, nil, newPort(corev1.ProtocolTCP, 80)),
		newService("dns", monitored, nil, newPort(corev1.ProtocolTCP, 53), newPort(corev1.ProtocolUDP, 53)),
		newService("local", monitored, local, newPort(corev1.ProtocolTCP, 80)),
		newService("inside", map[string]string{internal: "true"}, nil, newPort(corev1.ProtocolTCP, 443)),
		newService("forwarded", map[string]string{prefix + "x-forwarded-for": "true"}, nil, newPort(corev1.ProtocolTCP, 80)),
		newService("few", nil, func(s *corev1.ServiceSpec) {
			s.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
			s.SessionAffinity = corev1.ServiceAffinityClientIP
		}, newPort(corev1.ProtocolTCP, 80)),
	}
}

func (w *walker) create(ctx context.Context) error {
	if _, err := w.Controller("berth"); err != nil {
		return err
	}
	if err := w.Create(ctx, walkServices()...); err != nil {
		return err
	}
	return w.become(ctx, map[string][]string{
		"web":       {"TCP 80: TCP ROUND_ROBIN, 3 members", "floating IP"},
		"dns":       {"TCP 53: TCP ROUND_ROBIN, 3 members, TCP check", "UDP 53: UDP ROUND_ROBIN, 3 members, UDP-CONNECT check", "floating IP"},
		"local":     {"TCP 80: TCP ROUND_ROBIN, 3 members, HTTP check", "floating IP"},
		"inside":    {"TCP 443: TCP ROUND_ROBIN, 3 members"},
		"forwarded": {"HTTP 80: HTTP ROUND_ROBIN, 3 members", "floating IP"},
		"few":       {"TCP 80 for 192.0.2.0/24: TCP ROUND_ROBIN SOURCE_IP, 3 members", "floating IP"},
	})
}

// takeOver starts another process, which must find everything as it should be.
func (w *walker) takeOver(ctx context.Context) error {
	mark := w.mark()
	if err := w.StopControllers(); err != nil {
		return err
	}
	if _, err := w.Controller("again"); err != nil {
		return err
	}
	if err := w.quiet(ctx, mark); err != nil {
		return err
	}
	if n := countWrites(w.real.journal.since(mark)); n > 0 {
		return fmt.Errorf("%d writes, and nothing had changed", n)
	}
	return nil
}

// quiet waits until something was asked after the mark, and then nothing for a while.
func (w *walker) quiet(ctx context.Context, mark int) error {
	last, since := mark, time.Now()
	return harness.Eventually(ctx, patience, func(context.Context) error {
		if n := len(w.real.journal.since(0)); n != last {
			last, since = n, time.Now()
		}
		if last == mark || time.Since(since) < 5*time.Second {
			return fmt.Errorf("%d calls", last-mark)
		}
		return nil
	})
}

func (w *walker) change(ctx context.Context) error {
	for _, c := range []struct {
		name   string
		change func(*corev1.Service)
	}{
		{"web", func(s *corev1.Service) { s.Spec.Ports = append(s.Spec.Ports, newPort(corev1.ProtocolTCP, 443)) }},
		{"dns", func(s *corev1.Service) { s.Spec.Ports = s.Spec.Ports[1:] }},
		{"local", setAnnotation(prefix+"proxy-protocol", "v2")},
		{"inside", setAnnotation(internal, "false")},
		{"forwarded", setAnnotation(prefix+"x-forwarded-for", "false")},
		{"few", func(s *corev1.Service) {
			s.Spec.LoadBalancerSourceRanges = []string{"10.9.0.0/16"}
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, prefix+"lb-method", "LEAST_CONNECTIONS")
		}},
	} {
		if err := w.Change(ctx, metav1.NamespaceDefault, c.name, c.change); err != nil {
			return err
		}
	}
	nodes, err := w.SeedNodes()
	if err != nil {
		return err
	}
	if err := w.LeaveNode(ctx, nodes[0].Name); err != nil {
		return err
	}
	return w.become(ctx, map[string][]string{
		"web":       {"TCP 443: TCP ROUND_ROBIN, 2 members", "TCP 80: TCP ROUND_ROBIN, 2 members", "floating IP"},
		"dns":       {"UDP 53: UDP ROUND_ROBIN, 2 members, UDP-CONNECT check", "floating IP"},
		"local":     {"TCP 80: PROXYV2 ROUND_ROBIN, 2 members, HTTP check", "floating IP"},
		"inside":    {"TCP 443: TCP ROUND_ROBIN, 2 members", "floating IP"},
		"forwarded": {"TCP 80: TCP ROUND_ROBIN, 2 members", "floating IP"},
		"few":       {"TCP 80 for 10.9.0.0/16: TCP LEAST_CONNECTIONS SOURCE_IP, 2 members", "floating IP"},
	})
}

func (w *walker) remove(ctx context.Context) error {
	if err := w.removeAll(ctx, walkServices()...); err != nil {
		return err
	}
	if err := w.nothingLeft(ctx); err != nil {
		return err
	}
	nodes, err := w.SeedNodes()
	if err != nil {
		return err
	}
	return w.JoinNode(ctx, &nodes[0]) // it has left
}

// nothingLeft returns an error for what Berth has left in the real cloud.
func (w *walker) nothingLeft(ctx context.Context) error {
	for kind, api := range map[string]string{"loadbalancers": "load-balancer", "listeners": "load-balancer", "pools": "load-balancer", "healthmonitors": "load-balancer", "floatingips": "network"} {
		path := "/" + kind
		if api == "load-balancer" {
			path = "/lbaas/" + kind
		}
		left, err := w.cloud.list(ctx, api, path, kind)
		if err != nil || len(left) > 0 {
			return errors.Join(err, fmt.Errorf("%d %s are left: %v", len(left), kind, left))
		}
	}
	return nil
}
