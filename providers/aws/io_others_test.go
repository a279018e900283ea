package aws_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// sharing is a Service that shares the traffic of its port with others of its namespace.
type sharing struct {
	*rollout
	objects map[providers.Reference]providers.Object
}

const actions80 = "service.beta.kubernetes.io/actions.TCP-80"

// forwardAction returns an action that names Services by port 8000, or by the port that
// the text contains.
func forwardAction(tuples ...string) string {
	for i, t := range tuples {
		if !strings.HasPrefix(t, "{") {
			tuples[i] = fmt.Sprintf(`{"serviceName":%q,"servicePort":8000,"weight":10}`, t)
		}
	}
	return `{"type":"forward","forwardConfig":{"baseServiceWeight":90,"targetGroups":[` + strings.Join(tuples, ",") + `]}}`
}

func newSharing(t *testing.T, target string) *sharing {
	s := &sharing{rollout: newRollout(t), objects: map[providers.Reference]providers.Object{}}
	s.svc.Annotations["service.beta.kubernetes.io/aws-load-balancer-nlb-target-type"] = target
	s.svc.Annotations[actions80] = forwardAction("green")
	s.other("green", s.pods(100, 103))
	return s
}

func (s *sharing) ref(name string) providers.Reference {
	return providers.Reference{Kind: providers.Service, Namespace: s.svc.Namespace, Name: name}
}

// other is a Service of the namespace, with pods.
func (s *sharing) other(name string, pods []*discoveryv1.EndpointSlice) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.svc.Namespace, Name: name, UID: types.UID("uid-of-" + name)},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 8000, TargetPort: intstr.FromInt32(9090), NodePort: 31000}},
		},
	}
	for _, p := range pods {
		p.Ports[0].Name, p.Ports[0].Port = new("http"), new(int32(9090))
	}
	s.objects[s.ref(name)] = providers.Object{Service: svc, Slices: pods}
	return svc
}

func (s *sharing) draft() *reconcile.Draft {
	s.Helper()
	d, err := s.r.Draft(s.Context(), reconcile.Job{Service: s.svc, Slices: s.pods(0, 2), Objects: s.objects})
	if err != nil {
		s.Fatal(err)
	}
	return d
}

// settle brings the Service to what it asks for, and returns the writing calls.
func (s *sharing) settle(gates func(plan.Gate) time.Duration) []string {
	s.Helper()
	s.subject.Control().Journal.Reset()
	for range 12 {
		d := s.draft()
		if s.r.Run(s.Context(), d, gates).Clean {
			var out []string
			for _, e := range s.subject.Control().Journal.Entries() {
				if e.Write {
					out = append(out, e.Operation)
				}
			}
			return out
		}
		time.Sleep(time.Minute)
	}
	s.Fatal("not as wanted after 12 rounds")
	return nil
}

// groups are the target groups that a process finds which knows nothing, by name, with their targets.
func (s *sharing) groups() map[string][]string {
	s.Helper()
	s.restart()
	d, err := s.r.Draft(s.Context(), reconcile.Job{Service: s.svc, Slices: s.pods(0, 2), Objects: s.objects, Look: true})
	if err != nil {
		s.Fatal(err)
	}
	out := map[string][]string{}
	for r, group := range stack.Each[model.TargetGroup](d.Have, model.KindTargetGroup) {
		targets, _ := stack.SpecOf[model.Targets](d.Have, stack.Key{Kind: model.KindTargets, Name: r.Key.Name})
		list := []string{}
		for _, t := range targets.Targets {
			if a, err := netip.ParseAddr(t.ID); err == nil {
				t.ID = fmt.Sprint("pod ", int(a.As4()[3])-10)
			}
			list = append(list, fmt.Sprint(t.ID, ":", t.Port))
		}
		out[group.Name] = list
	}
	return out
}

// expectProtocol looks at the only target group for another Service, which a process finds that
// knows nothing.
func (s *sharing) expectProtocol(want string) {
	s.Helper()
	s.groups()
	var got []string
	for r, group := range stack.Each[model.TargetGroup](s.draft().Have, model.KindTargetGroup) {
		if strings.Contains(r.Key.Name, "green") {
			got = append(got, group.Protocol)
		}
	}
	if !slices.Equal(got, []string{want}) {
		s.Errorf("protocols are %v, want %s", got, want)
	}
}

// officialName is the name of the official controller's target group for another Service.
func (s *sharing) officialName(other, target string, port int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "kubernetes%suid-of-%s%d8000%sTCPTCP10", s.svc.UID, other, port, target))
	return fmt.Sprintf("k8s-%s-%s-%s", s.svc.Namespace, strings.ReplaceAll(other, "-", "")[:min(8, len(strings.ReplaceAll(other, "-", "")))], hex.EncodeToString(sum[:])[:10])
}

func (s *sharing) expectTargets(when, group string, want ...string) {
	s.Helper()
	groups := s.groups()
	if got, there := groups[group]; !there || !slices.Equal(got, want) {
		s.Errorf("%s: target group %s has %v, want %v; there are %v", when, group, got, want, groups)
	}
}

// TestOthersArePods: a Service that an action names gets a target group with the name
// and the tags that the official controller gives. Its pods are followed, and the group
// is deleted with the action.
func TestOthersArePods(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newSharing(t, "ip")
		s.settle(plan.OpenGates)
		green := s.officialName("green", "ip", 9090)
		s.expectTargets("made", green, "pod 100:9090", "pod 101:9090", "pod 102:9090")
		for _, group := range stack.Each[model.TargetGroup](s.draft().Have, model.KindTargetGroup) {
			if want := s.svc.Namespace + "/green:8000"; group.Name == green && group.Tags["service.k8s.aws/resource"] != want {
				t.Errorf("tags are %v, want the resource %s", group.Tags, want)
			}
		}
		if calls := s.settle(plan.OpenGates); len(calls) > 0 {
			t.Errorf("a process that knows nothing makes %v", calls)
		}
		s.other("green", s.pods(101, 104))
		if calls := s.settle(plan.OpenGates); !slices.Equal(calls, []string{"RegisterTargets", "DeregisterTargets"}) {
			t.Errorf("another pod takes %v", calls)
		}
		s.expectTargets("rolled", green, "pod 101:9090", "pod 102:9090", "pod 103:9090")
		delete(s.svc.Annotations, actions80)
		if calls := s.settle(plan.OpenGates); !slices.Equal(calls, []string{"ModifyListener", "DeleteTargetGroup"}) {
			t.Errorf("without the action: %v", calls)
		}
		if groups := s.groups(); len(groups) != 1 {
			t.Errorf("without the action there are %v", groups)
		}
	})
}

// TestOthersAreNodePorts: with instances as targets the node port of the other Service is where
// they are reached, and a load balancer without security groups is let in there.
func TestOthersAreNodePorts(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newSharing(t, "instance")
		s.svc.Annotations["service.beta.kubernetes.io/aws-load-balancer-disable-nlb-sg"] = "true"
		s.settle(plan.OpenGates)
		at := func(port int) (want []string) {
			for _, n := range s.subject.running.Cloud.Seed.Nodes {
				want = append(want, fmt.Sprint(n.InstanceID, ":", port))
			}
			slices.Sort(want)
			return want
		}
		green := s.officialName("green", "instance", 31000)
		s.expectTargets("made", green, at(31000)...)
		s.expectLetIn("made", 31000)
		if calls := s.settle(plan.OpenGates); len(calls) > 0 {
			t.Errorf("a process that knows nothing makes %v", calls)
		}
		s.other("green", nil).Spec.Ports[0].NodePort = 31001
		s.settle(plan.OpenGates)
		s.expectTargets("another node port", green, at(31001)...)
		s.expectLetIn("another node port", 31001)
		delete(s.svc.Annotations, actions80)
		s.settle(plan.OpenGates)
		s.expectLetIn("without the action")
	})
}

// expectLetIn compares the ports from 31000 on which the nodes admit any client.
func (s *sharing) expectLetIn(when string, want ...int32) {
	s.Helper()
	var got []int32
	for _, g := range s.subject.running.Cloud.EC2.World().Groups {
		for _, rule := range g.Ingress {
			if g.ID == s.subject.running.Cloud.Seed.NodeGroup && rule.From >= 31000 && rule.From < 31010 {
				got = append(got, int32(rule.From))
			}
		}
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		s.Errorf("%s: the nodes let in on %v, want %v", when, got, want)
	}
}

// TestOthersOfOneName: the groups of two Services whose names begin alike are not mixed up, by a
// process that knows nothing either, and all go with the Service.
func TestOthersOfOneName(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newSharing(t, "ip")
		s.svc.Name = "frontend-a"
		for i, name := range []string{"frontend-b", "frontend-c", "checkout"} {
			s.other(name, s.pods(100+10*i, 101+10*i))
		}
		s.svc.Annotations[actions80] = forwardAction("frontend-b", "frontend-c", "checkout")
		s.settle(plan.OpenGates)
		for i, name := range []string{"frontend-b", "frontend-c", "checkout"} {
			s.expectTargets(name, s.officialName(name, "ip", 9090), fmt.Sprintf("pod %d:9090", 100+10*i))
		}
		if calls := s.settle(plan.OpenGates); len(calls) > 0 {
			t.Errorf("a process that knows nothing makes %v", calls)
		}
		s.svc.Annotations[actions80] = forwardAction("checkout", "frontend-c")
		s.settle(plan.OpenGates)
		if groups := s.groups(); len(groups) != 3 {
			t.Errorf("with two of three there are %v", groups)
		}
		s.release()
		if groups := s.groups(); len(groups) > 0 {
			t.Errorf("left: %v", groups)
		}
	})
}

// TestOthersThatAreRefused: an unsupported action is reported with the supported values,
// and the existing load balancer keeps serving.
func TestOthersThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		action string
		change func(s *sharing)
		want   []string
	}{
		"not there":        {forwardAction("blue"), nil, []string{`names the Service "blue", which is not known here`, "a Service of the namespace shop"}},
		"no such port":     {forwardAction(`{"serviceName":"green","servicePort":81}`), nil, []string{"has no port 81 that speaks TCP", `8000 or "http" (TCP)`}},
		"no such name":     {forwardAction(`{"serviceName":"green","servicePort":"metrics"}`), nil, []string{"has no port metrics", `8000 or "http" (TCP)`}},
		"itself":           {forwardAction("web"), nil, []string{"is the Service itself", "baseServiceWeight"}},
		"twice":            {forwardAction("green", `{"serviceName":"green","servicePort":"http","weight":1}`), nil, []string{"twice, by number and by name"}},
		"too many":         {forwardAction("a", "b", "c", "d", "e"), nil, []string{"has 5 target groups, at most 4"}},
		"other speaks UDP": {forwardAction("green"), func(s *sharing) { s.other("green", nil).Spec.Ports[0].Protocol = corev1.ProtocolUDP }, []string{"that speaks TCP", "(UDP)"}},
		"outside":          {forwardAction("green"), func(s *sharing) { s.other("green", nil).Spec.Type = corev1.ServiceTypeExternalName }, []string{"ExternalName"}},
		"IPv6":             {forwardAction("green"), func(s *sharing) { s.other("green", nil).Spec.IPFamilies[0] = corev1.IPv6Protocol }, []string{"IPv6", "dualstack"}},
		"no node port": {forwardAction("green"), func(s *sharing) {
			s.svc.Annotations["service.beta.kubernetes.io/aws-load-balancer-nlb-target-type"] = "instance"
			s.other("green", nil).Spec.Ports[0].NodePort = 0
		}, []string{"has no node port", "NodePort or LoadBalancer"}},
		"a check of its own": {forwardAction("green"), func(s *sharing) {
			s.svc.Annotations["service.beta.kubernetes.io/aws-load-balancer-healthcheck-port"] = s.svc.Spec.Ports[0].Name
			s.other("green", nil).Spec.Ports[0].Name = "web"
		}, []string{`names no port of the Service "green"`}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				s := newSharing(t, "ip")
				s.svc.Annotations[actions80] = forwardAction("green")
				s.settle(plan.OpenGates)
				if c.change != nil {
					c.change(s)
				}
				s.svc.Annotations[actions80] = c.action
				d := s.draft()
				text := strings.Join(d.Problems.Strings(), "\n")
				for _, want := range c.want {
					if !strings.Contains(text, want) {
						t.Errorf("problems are %q, want %q", text, want)
					}
				}
				if !d.Problems.Errors() || d.Intent == reconcile.LeaveAlone {
					t.Errorf("intent %v, problems %q", d.Intent, text)
				}
			})
		})
	}
}

// TestOtherGoesAndComes: while the other Service does not exist its pods get nothing,
// and the rest is served; a Service that is created in its place gets its target group.
func TestOtherGoesAndComes(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newSharing(t, "ip")
		s.settle(plan.OpenGates)
		green := s.officialName("green", "ip", 9090)
		s.objects[s.ref("green")] = providers.Object{Why: "is not there"}
		d := s.draft()
		if !d.Problems.Errors() {
			t.Error("nothing is told of a Service that is away")
		}
		s.r.Run(t.Context(), d, plan.OpenGates)
		s.expectTargets("away", green)
		s.other("green", s.pods(110, 111)).UID = "another"
		s.settle(plan.OpenGates)
		s.expectTargets("back", green, "pod 110:9090")
	})
}
