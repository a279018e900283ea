package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// The toy cloud has one load balancer per Service, with nodes behind it.
type toyBalancer struct{ Port int32 }

type toyMembers struct{ Nodes []string }

// toySeat is a resource that one Service at a time can have; an annotation requests it.
type toySeat struct{}

const (
	toyLB    stack.Kind = "balancer"
	toyIn    stack.Kind = "members"
	toyPlace stack.Kind = "seat"

	seatKey = "example.com/seat"
)

func toyKey(kind stack.Kind) stack.Key { return stack.Key{Kind: kind, Name: "it"} }

// toy is the cloud: what it has, by the owner's UID, and what was asked of it.
type toy struct {
	mu     sync.Mutex
	has    map[string]toyBalancer
	nodes  map[string][]string
	seat   string // the owner of the seat
	writes int
	reads  int          // of what Services own
	refuse func() error // answers every write; nil, or an answer of nil: it is done
	loses  bool         // new members are accepted and not kept
}

func (c *toy) Read(_ context.Context, scopes []providers.Scope) []providers.Found[struct{}] {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]providers.Found[struct{}], len(scopes))
	for i, s := range scopes {
		out[i].Have = &stack.Stack{}
		c.reads += min(len(s.Own), 1)
		if lb, there := c.has[s.Owner.UID]; there && len(s.Own) > 0 {
			out[i].Have.Put(stack.Resource{Key: toyKey(toyLB), ID: s.Owner.UID, Proof: stack.Tag, Spec: lb})
			out[i].Have.Put(stack.Resource{Key: toyKey(toyIn), ID: s.Owner.UID, In: toyKey(toyLB), Proof: stack.Derived, Spec: toyMembers{c.nodes[s.Owner.UID]}})
		}
		if c.seat == s.Owner.UID && len(s.Own) > 0 {
			out[i].Have.Put(stack.Resource{Key: toyKey(toyPlace), ID: "seat", Slot: "seat", Proof: stack.Tag, Spec: toySeat{}})
		}
	}
	return out
}

func (c *toy) Apply(_ context.Context, b plan.Batch) []plan.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]plan.Outcome, len(b.Steps))
	for i, s := range b.Steps {
		c.writes++
		if c.refuse != nil {
			if err := c.refuse(); err != nil {
				out[i] = plan.Failed(err)
				continue
			}
		}
		uid := s.ID.Owner.UID
		switch spec := s.Target.Spec.(type) {
		case toyMembers:
			if !c.loses {
				c.nodes[uid] = spec.Nodes
			}
		case toyBalancer:
			c.has[uid] = spec
		case toySeat:
			c.seat = uid
		}
		switch {
		case s.ID.Action != plan.Delete:
		case s.ID.Key.Kind == toyPlace:
			c.seat = ""
		default:
			delete(c.has, uid)
		}
		out[i] = plan.Done(stack.Resource{ID: uid, Spec: s.Target.Spec, Proof: stack.Tag})
	}
	return out
}

// taken reports whether another Service has the seat.
func (c *toy) taken(o stack.Owner) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seat != "" && c.seat != o.UID
}

// serves tells which nodes are behind a Service's load balancer.
func (c *toy) serves(uid types.UID) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, there := c.has[string(uid)]
	return strings.Join(c.nodes[string(uid)], " "), there
}

func (c *toy) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes
}

func (c *toy) readCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads
}

func (c *toy) answer(refuse func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = refuse
}

func (c *toy) bound(t *testing.T) providers.Bound {
	t.Helper()
	set, err := annotations.NewSet("toy", []string{"toy.example/"})
	if err != nil {
		t.Fatal(err)
	}
	ownedScope := func(id providers.Identity[string]) providers.Scope {
		return providers.Scope{Owner: id.Owner, Own: []providers.Lookup{{By: "mark", Value: id.Owner.UID}}}
	}
	return providers.Bind(providers.Cloud[string, struct{}]{
		Traits: providers.Traits{
			Name: "toy",
			Rules: diff.Rules{Kinds: map[stack.Kind]diff.Rule{
				toyLB:    {Traffic: diff.Traffic{Role: diff.EntryPoint}, Batch: batchToy},
				toyPlace: {},
				toyIn:    {Within: diff.Within{Inherent: true, Cascade: true}, Fields: diff.Fields{Sets: map[string]diff.Set{"Nodes": {}}}},
			}},
		},
		Annotations: set,
		RequestFuncs: providers.RequestFuncs[string]{
			Choose: chooseToy,
			Reach:  func(providers.Input[string]) providers.Reach { return providers.Reach{} },
			Select: func(providers.Input[string]) nodeports.Filter { return nodeports.Filter{} },
			Refers: func(in providers.Input[string]) []providers.Reference {
				if name := in.Service.Annotations[toyPort]; name != "" {
					return []providers.Reference{{Kind: providers.Secret, Namespace: in.Service.Namespace, Name: name}}
				}
				if name := in.Service.Annotations[toyObject]; name != "" {
					return []providers.Reference{{Kind: providers.KindOf("toy.example", "v1", "ports"), Namespace: in.Service.Namespace, Name: name}}
				}
				return nil
			},
		},
		PlaceFuncs: providers.PlaceFuncs[string]{
			OwnedScope: ownedScope,
			Scope:      func(in providers.Input[string]) (providers.Scope, error) { return ownedScope(in.Identity), nil },
		},
		StackFuncs: providers.StackFuncs[string, struct{}]{
			Build: func(in providers.Input[string], _ struct{}, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
				panicAtStage(in.Service, "build")
				out := &stack.Stack{}
				port := in.Service.Spec.Ports[0].Port
				for ref, object := range in.Objects {
					if port, given := object.Spec["port"].(int64); given {
						object.Data = map[string][]byte{"port": {byte(port)}}
					}
					if object.Data == nil {
						return nil, annotations.Problems{{Severity: annotations.Error, Key: toyPort, Value: ref.Name, Message: object.Why}}, nil
					}
					port = int32(object.Data["port"][0])
				}
				out.Put(stack.Resource{Key: toyKey(toyLB), Spec: toyBalancer{port}})
				if in.Service.Annotations[seatKey] != "" {
					if c.taken(in.Owner) {
						return nil, annotations.Problems{{Key: seatKey, Message: "is taken", Taken: true}}, nil
					}
					out.Put(stack.Resource{Key: toyKey(toyPlace), Slot: "seat", Spec: toySeat{}})
				}
				out.Put(stack.Resource{Key: toyKey(toyIn), In: toyKey(toyLB), Spec: toyMembers{in.Backends.Nodes.Names()}})
				if _, live := have.Get(toyKey(toyLB)); live && in.Service.Spec.LoadBalancerIP != "" {
					return out, annotations.NotApplied(annotations.Problem{Key: "spec.loadBalancerIP", Message: "cannot change"}), nil
				}
				return out, nil, nil
			},
			MayWant: func(providers.Identity[string], stack.Resource) bool { return false },
			Status: func(in providers.Input[string], have *stack.Stack) status.Result {
				panicAtStage(in.Service, "show")
				if lb, ok := have.Get(toyKey(toyLB)); ok {
					return status.Result{Ingress: []corev1.LoadBalancerIngress{status.Hostname(lb.ID + ".toy.example")}}
				}
				return status.Result{}
			},
		},
	}, "", "cluster", c)
}

// cluster is an API server in memory that gives versions, merges patches and keeps
// what has finalizers, as the real one does.
type cluster struct {
	t       *testing.T
	client  *fake.Clientset
	cloud   *toy
	events  *record.FakeRecorder
	mu      sync.Mutex
	version int
	patches int
}

func (c *cluster) next() string {
	c.version++
	return strconv.Itoa(c.version)
}

// applyPatch returns an object with a strategic merge patch applied.
func applyPatch[T any](was *T, patch []byte) (*T, error) {
	before, err := json.Marshal(was)
	if err != nil {
		return nil, err
	}
	now := new(T)
	after, err := strategicpatch.StrategicMergePatch(before, patch, *now)
	if err != nil {
		return nil, err
	}
	return now, json.Unmarshal(after, now)
}

// services is the resource of Services.
var servicesResource = corev1.SchemeGroupVersion.WithResource("services")

func (c *cluster) patch(action clienttesting.Action) (bool, runtime.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, _ := action.(clienttesting.PatchAction)
	obj, err := c.client.Tracker().Get(servicesResource, a.GetNamespace(), a.GetName())
	if err != nil {
		return true, nil, err
	}
	was, _ := obj.(*corev1.Service)
	var body struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(a.GetPatch(), &body); err != nil {
		return true, nil, err
	}
	if v := body.Metadata.ResourceVersion; v != "" && v != was.ResourceVersion {
		return true, nil, apierrors.NewConflict(servicesResource.GroupResource(), was.Name, fmt.Errorf("%s is not %s", v, was.ResourceVersion))
	}
	now, err := applyPatch(was, a.GetPatch())
	if err != nil {
		return true, nil, err
	}
	c.patches++
	now.ResourceVersion = c.next()
	if now.DeletionTimestamp != nil && len(now.Finalizers) == 0 {
		return true, now, c.client.Tracker().Delete(servicesResource, now.Namespace, now.Name)
	}
	return true, now.DeepCopy(), c.client.Tracker().Update(servicesResource, now, now.Namespace)
}

// put writes a Service as a user would.
func (c *cluster) put(name string, change func(*corev1.Service)) { c.putAs("kubectl", name, change) }

// putAs writes a Service as another program would.
func (c *cluster) putAs(manager, name string, change func(*corev1.Service)) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	obj, err := c.client.Tracker().Get(servicesResource, "shop", name)
	svc, ok := obj.(*corev1.Service)
	if fresh := err != nil || !ok; fresh {
		svc = &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080}}},
		}
		change(svc)
		svc.ResourceVersion = c.next()
		if err := c.client.Tracker().Create(servicesResource, svc, "shop"); err != nil {
			c.t.Error(err)
		}
		return
	}
	svc = svc.DeepCopy()
	change(svc)
	svc.ResourceVersion = c.next()
	if err := c.client.Tracker().Update(servicesResource, svc, "shop", metav1.UpdateOptions{FieldManager: manager}); err != nil {
		c.t.Error(err)
	}
}

func (c *cluster) get(name string) *corev1.Service {
	c.t.Helper()
	svc, err := c.client.CoreV1().Services("shop").Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return svc
}

func (c *cluster) node(name string) {
	c.t.Helper()
	if _, err := c.client.CoreV1().Nodes().Create(c.t.Context(), nodeNamed(name, nil), metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// written is how many patches there were.
func (c *cluster) written() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.patches
}

// told drains the events and counts those with a reason.
func (c *cluster) told(reason status.EventReason) int {
	n := 0
	for _, e := range recordedEvents(c.events) {
		if strings.Contains(e, " "+string(reason)+" ") {
			n++
		}
	}
	return n
}

// programmed is the status and reason of the condition.
func (c *cluster) programmed(name string) string {
	for _, cond := range c.get(name).Status.Conditions {
		if cond.Type == status.TypeProgrammed {
			return string(cond.Status) + " " + cond.Reason
		}
	}
	return ""
}

// newToy is an empty toy cloud.
func newToy() *toy { return &toy{has: map[string]toyBalancer{}, nodes: map[string][]string{}} }

// newCluster is a cluster in memory with one node.
func newCluster(t *testing.T, cloud *toy) *cluster {
	t.Helper()
	c := &cluster{t: t, client: fake.NewClientset(), events: record.NewFakeRecorder(10000), cloud: cloud}
	c.client.PrependReactor("patch", "services", c.patch)
	c.node("n1")
	return c
}

// beside runs a part of a test beside a loop, until the part ends.
func (c *cluster) beside(bound providers.Bound, r reconcile.Options, o Options, part func()) {
	c.t.Helper()
	factory := informers.NewSharedInformerFactory(c.client, 0)
	r.Now, o.Classes = time.Now, Classes{Default: true}
	loop, err := New(c.client, factory, reconcile.New(bound, r), c.events, o)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(c.t.Context())
	factory.Start(ctx.Done())
	var running sync.WaitGroup
	running.Go(func() {
		if err := loop.Run(ctx); err != nil {
			c.t.Error(err)
		}
	})
	advanceTime(time.Second)
	part()
	stop()
	running.Wait()
	factory.Shutdown()
}

// inLoop runs a test beside a loop, in virtual time.
func inLoop(t *testing.T, o Options, test func(*cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, newToy())
		options := reconcile.Options{}
		if o.DryRun {
			options.Policies = []plan.StepFilter{plan.DryRun}
		}
		c.beside(c.cloud.bound(t), options, o, func() { test(c) })
	})
}

// advanceTime advances virtual time, and waits until all goroutines are blocked.
func advanceTime(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func serviceNames(n int) []string {
	var out []string
	for i := range n {
		out = append(out, "web-"+strconv.Itoa(i))
	}
	return slices.Clip(out)
}
