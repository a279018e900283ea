package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// changer changes Services, one after the other, over and over: each gets another
// port for its listener.
type changer struct {
	w        *world
	services []corev1.Service
	cancel   context.CancelFunc
	done     sync.WaitGroup

	mu    sync.Mutex
	ports map[string]int32 // what each Service asked for last, by name
	err   error
	n     int
}

func (w *world) keepChanging(services []corev1.Service) *changer {
	ctx, cancel := context.WithCancel(w.t.Context())
	c := &changer{w: w, services: services, cancel: cancel, ports: map[string]int32{}}
	for _, svc := range services {
		c.ports[svc.Name] = svc.Spec.Ports[0].Port
	}
	c.done.Go(func() { c.run(ctx) })
	return c
}

func (c *changer) run(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond) // quick enough to change something in every moment of the test
	defer tick.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		name, number := c.services[i%len(c.services)].Name, int32(1000+i)
		err := c.w.Change(ctx, c.w.ns, name, func(svc *corev1.Service) { svc.Spec.Ports[0].Port = number })
		c.mu.Lock()
		switch {
		case err == nil:
			c.ports[name], c.n = number, c.n+1
		case ctx.Err() == nil:
			c.err = errors.Join(c.err, err)
		}
		c.mu.Unlock()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// changes is how many have been made.
func (c *changer) changes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// more waits until another number of changes has been made.
func (c *changer) more(n int) {
	c.w.t.Helper()
	want := c.changes() + n
	c.w.eventually(fmt.Sprintf("%d changes", want), func() error { return atLeast(want, c.changes()) })
}

// stop returns the port of each Service's listener once all has been followed.
func (c *changer) stop() map[string]string {
	c.w.t.Helper()
	c.cancel()
	c.done.Wait()
	c.w.must(c.err)
	out := map[string]string{}
	for _, svc := range c.services {
		now := c.w.get(svc.Name) // a change whose answer was lost may have been made
		out[nameOf(now)] = fmt.Sprint(now.Spec.Ports[0].Port)
	}
	return out
}

// listening are the ports of all Classic Load Balancers by name.
func (w *world) listening(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	pages := elb.NewDescribeLoadBalancersPaginator(w.aws.elb, &elb.DescribeLoadBalancersInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, lb := range page.LoadBalancerDescriptions {
			for _, l := range lb.ListenerDescriptions {
				out[awssdk.ToString(lb.LoadBalancerName)] += fmt.Sprint(l.Listener.LoadBalancerPort)
			}
		}
	}
	return out, nil
}

// listensOn is the port of a load balancer's only listener. While listeners are
// replaced there may be none or several.
func listensOn(b balancer) any {
	if len(b.Listeners) != 1 {
		return fmt.Sprintf("%d listeners", len(b.Listeners))
	}
	outside, _, _ := strings.Cut(b.Listeners[0], ">")
	_, port, _ := strings.Cut(outside, ":")
	return port
}

// stealLease makes another identity the holder of the Lease.
func (w *world) stealLease(thief string) {
	w.t.Helper()
	w.eventually("the lease is written", func() error {
		lease, err := w.Client.CoordinationV1().Leases(leaseNamespace).Get(w.t.Context(), leaseName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now := metav1.NowMicro()
		lease.Spec.HolderIdentity, lease.Spec.AcquireTime, lease.Spec.RenewTime = &thief, &now, &now
		_, err = w.Client.CoordinationV1().Leases(leaseNamespace).Update(w.t.Context(), lease, metav1.UpdateOptions{})
		return err
	})
}

// follows waits until every load balancer listens where its Service says.
func (w *world) follows(want map[string]string) {
	w.t.Helper()
	err := harness.Eventually(w.t.Context(), 3*limit, func(ctx context.Context) error {
		got, err := w.listening(ctx)
		return errors.Join(err, diffError("listeners", want, got))
	})
	w.must(err)
}

// TestRollingRestart replaces both replicas, one after the other, while 200
// Services are being changed: nothing is made twice, and nothing that a user
// wrote is lost.
func TestRollingRestart(t *testing.T) {
	const n = 200
	w := startWorld(t, 2, "--quota-factor=20")
	before := w.state()
	old := []*harness.Process{w.controller(electionFlags()...), w.controller(electionFlags()...)}
	var services []corev1.Service
	for i := range n {
		services = append(services, w.service(fmt.Sprintf("rolling-%d", i)))
	}
	w.must(w.Create(t.Context(), services...))
	w.must(harness.Eventually(t.Context(), 3*limit, w.Programmed(services...)))
	changer := w.keepChanging(services)
	for _, p := range old {
		changer.more(n / 4)
		w.controller(electionFlags()...)
		changer.more(n / 4)
		if err := p.Stop(limit); err != nil {
			t.Errorf("a replica that was asked to stop: %v", err)
		}
	}
	changer.more(n / 4)
	w.follows(changer.stop())
	for operation, want := range map[string]int{"CreateLoadBalancer": n, "CreateSecurityGroup": n, "DeleteLoadBalancer": 0, "DeleteSecurityGroup": 0} {
		if got := w.committed(operation); got != want {
			t.Errorf("%s took effect %d times for %d Services, want %d", operation, got, n, want)
		}
	}
	w.must(w.Delete(t.Context(), services...))
	w.must(harness.Eventually(t.Context(), 3*limit, w.Gone(services...)))
	w.asBefore(before)
	w.dropLease()
}

// TestAPIServerRestarts kills the API server twice while the controller runs: the controller
// handles the changes made meanwhile without a restart, and sends no call to the cloud
// because of it.
func TestAPIServerRestarts(t *testing.T) {
	var disturbed cluster.Shared // not shared with other tests
	alone := disturbed.Cluster(t)
	t.Cleanup(func() {
		if err := alone.Stop(); err != nil {
			t.Error(err)
		}
	})
	w := startOn(t, &disturbed, "aws", 2)
	controller := w.controller()
	fleet := w.fleet(6)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.settled(w.meter())
	meter := w.meter()
	w.must(alone.RestartAPIServer(t.Context()))
	w.noWrites("the API server came back", meter)

	w.slowWrites()
	more := w.service("during", setPorts(81, 1141))
	w.must(w.Create(t.Context(), more))
	w.update("network-1", setPorts(82, 0))
	w.must(w.Delete(t.Context(), fleet[0]))
	w.must(alone.RestartAPIServer(t.Context()))
	w.programmed(append(fleet[1:], more)...)
	w.becomes("network-1", listensOn, any("82"))
	w.must(harness.Eventually(t.Context(), limit, w.Gone(fleet[0])))
	if !controller.Running() {
		t.Error("the controller has ended")
	}
	if got := w.committed("CreateLoadBalancer"); got != len(fleet)+1 {
		t.Errorf("CreateLoadBalancer took effect %d times, want %d", got, len(fleet)+1)
	}
}

// TestLostLease takes the Lease from the leader, as a network partition does: the process
// exits, and another one takes over.
func TestLostLease(t *testing.T) {
	w := startWorld(t, 2, "--quota-factor=3")
	leader := w.controller(electionFlags()...)
	w.eventually("a leader", func() error {
		if w.holder() == "" {
			return errors.New("the lease has no holder")
		}
		return nil
	})
	second := w.controller(electionFlags()...)
	w.slowWrites()
	fleet := w.fleet(20)
	meter := w.meter()
	w.must(w.Create(t.Context(), fleet...))
	w.eventually("the first writes", func() error {
		calls, err := meter.Read(t.Context())
		return errors.Join(err, atLeast(10, calls.Writes))
	})
	w.stealLease("somebody-else")
	w.eventually("the leader ends", func() error {
		if leader.Running() {
			return errors.New("it still runs without the lease")
		}
		return nil
	})
	w.programmed(fleet...)
	w.onceEach(len(fleet))
	if !second.Running() {
		t.Error("the second replica has ended")
	}
	w.dropLease()
}

// TestExpiredToken makes the cloud refuse requests signed with an expired token: the load
// balancers stay, one event per Service is recorded, and reconciling resumes with a new
// token.
func TestExpiredToken(t *testing.T) {
	w := startWorld(t, 2)
	w.controller()
	kept := w.create("kept", setPorts(80, 1140))
	served := w.get("kept").Status.LoadBalancer
	w.arm(sim.Fault{Kind: sim.FaultError, Code: "ExpiredToken", Status: 403})
	w.update("kept", setPorts(81, 1140))
	w.eventually("users are told", func() error {
		return requireWords(fmt.Sprint(w.warnings("kept")), "ExpiredToken")
	})
	if got := w.get("kept").Status.LoadBalancer.Ingress; len(got) != 1 || cmp.Diff(served.Ingress, got) != "" {
		t.Errorf("the address in the status is %v, was %v", got, served.Ingress)
	}
	w.disarm()
	w.becomes("kept", listensOn, any("81"))
	w.programmed(kept)
	if got := len(w.warnings("kept")); got > 3 {
		t.Errorf("told %d times: %q", got, w.warnings("kept"))
	}
}
