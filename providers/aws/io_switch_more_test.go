package aws_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// balancersOf are the existing load balancers, without their target groups.
func balancersOf(s props.Subject) []string {
	var out []string
	for _, id := range resourceIDs(s) {
		if strings.Contains(id, ":loadbalancer/") {
			out = append(out, id)
		}
	}
	return out
}

// TestSwitchSurvivesCrashes: whatever writing call of a switch a process dies at, the next one
// ends it, and nothing is left over.
func TestSwitchSurvivesCrashes(t *testing.T) {
	setCredentials(t)
	for _, c := range groupSwitches() {
		props.Stays(t, freshController, c[0], c[1], balancersOf)
	}
}

// join continues until a listener of the Service has two target groups.
func (f *traffic) join(svc *corev1.Service) {
	f.Helper()
	for range 10 {
		f.once(svc)
		f.look()
		if len(f.listeners()[0].DefaultActions[0].ForwardConfig.TargetGroups) == 2 {
			return
		}
		time.Sleep(time.Second)
	}
	f.Fatal("no second target group joins the listener")
}

// TestMindChangedDuringSwitch: a change that is reverted while the new group is checked
// keeps the old group, and after a second change the old group serves clients until
// then.
func TestMindChangedDuringSwitch(t *testing.T) {
	setCredentials(t)
	nodes, pods := groupSwitches()["nodes to pods"][0].Service, groupSwitches()["nodes to pods"][1].Service
	tls, ssl := groupSwitches()["TLS to the nodes"][0].Service, groupSwitches()["TLS to the nodes"][1].Service
	tlsPods := tls.DeepCopy()
	tlsPods.Annotations[prefix+"aws-load-balancer-nlb-target-type"] = "ip"
	for name, c := range map[string]struct {
		from, to, then *corev1.Service
		back           bool
	}{
		"taken back":  {nodes, pods, nodes, true},
		"third thing": {tls, ssl, tlsPods, false},
	} {
		for _, restarts := range []bool{false, true} {
			if restarts {
				name += ", with restarts"
			}
			virtual.Run(t, name, func(t *testing.T) {
				f := newTraffic(t, "", firstChecks)
				f.serve(c.from, false, false)
				time.Sleep(2 * firstChecks)
				old := *f.groups()[0].TargetGroupArn
				f.join(c.to)
				f.serve(c.then, true, restarts)
				if now := f.groups(); len(now) != 1 || (*now[0].TargetGroupArn == old) != c.back {
					t.Errorf("%d target groups, the first is %s; it was %s", len(now), *now[0].TargetGroupArn, old)
				}
			})
		}
	}
}

// TestSwitchDoesNotWaitForEver: a group whose targets never become healthy gets the
// traffic when its checks should long have been over, and the user gets a manual action.
func TestSwitchDoesNotWaitForEver(t *testing.T) {
	setCredentials(t)
	virtual.Run(t, "never healthy", func(t *testing.T) {
		f := newTraffic(t, "", time.Hour)
		c := groupSwitches()["nodes to pods"]
		f.serve(c[0].Service, false, false)
		time.Sleep(2 * time.Hour)
		f.join(c[1].Service)
		began := time.Now()
		for len(f.listeners()[0].DefaultActions[0].ForwardConfig.TargetGroups) == 2 && time.Since(began) < time.Hour {
			f.once(c[1].Service)
			time.Sleep(time.Second)
		}
		// Checks each 10 s, of which three make a target healthy, and two minutes more.
		if took := time.Since(began); took < 145*time.Second || took > 160*time.Second {
			t.Errorf("waited %v, want 2m30s", took)
		}
		if told := strings.Join(f.manual, "\n"); !strings.Contains(told, "no target of it is healthy") {
			t.Errorf("said %q, want that no target is healthy", told)
		}
	})
}

// TestSwitchWithoutWeights: where listeners do not take two groups, or must not, they go over
// at once.
func TestSwitchWithoutWeights(t *testing.T) {
	setCredentials(t)
	for name, c := range map[string]struct {
		config string
		refuse bool
	}{"switched off": {config: "DisableWeightedTargetGroups = true\n"}, "refused": {refuse: true}} {
		virtual.Run(t, name, func(t *testing.T) {
			f := newTraffic(t, c.config, firstChecks)
			cases := groupSwitches()["nodes to pods"]
			f.serve(cases[0].Service, false, false)
			f.subject.Control().Journal.Reset()
			if c.refuse {
				fault := sim.Fault{Service: "elbv2", Operation: "ModifyListener", Kind: sim.FaultError, Code: "InvalidLoadBalancerAction", Status: 400, Count: 1}
				if _, err := f.subject.Control().Faults.Add(fault); err != nil {
					t.Fatal(err)
				}
			}
			f.once(cases[1].Service)
			if n := len(f.listeners()[0].DefaultActions[0].ForwardConfig.TargetGroups); n != 1 {
				t.Errorf("the listener has %d target groups, want the new one alone at once", n)
			}
			f.serve(cases[1].Service, false, false)
			if n := len(f.groups()); n != 1 {
				t.Errorf("%d target groups, want the new one alone", n)
			}
		})
	}
}

// TestDeadPortIsLeftAtOnce: nothing answers on a node port that the Service has no more, so
// nothing is gained by waiting.
func TestDeadPortIsLeftAtOnce(t *testing.T) {
	setCredentials(t)
	virtual.Run(t, "node port", func(t *testing.T) {
		f := newTraffic(t, "", firstChecks)
		svc := groupSwitches()["TLS to the nodes of kind nlb"][0].Service
		f.serve(svc, false, false)
		moved := svc.DeepCopy()
		moved.Spec.Ports[0].NodePort += 1000
		f.once(moved)
		if n := len(f.listeners()[0].DefaultActions[0].ForwardConfig.TargetGroups); n != 1 {
			t.Errorf("the listener has %d target groups, want the new one alone at once", n)
		}
	})
}
