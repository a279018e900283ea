package providers

import (
	"context"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/status"
)

// Identity is the information about a Service that is available for its release. It
// is enough to find its resources, whatever its annotations are at that time.
type Identity[C any] struct {
	Owner   stack.Owner
	Cluster string // --cluster-name
	Config  C
	// Places are the annotations of the Service that Cloud.OnDelete lists: the only user
	// input that locates resources.
	Places map[string]string
	// Ports are those of the Service: evidence for load balancers whose parts are named after
	// them. A Service that is no longer known has none.
	Ports []nodeports.ServicePort
}

// Input is the input of a build of a Service's stack.
type Input[C any] struct {
	Identity[C]
	Service  *corev1.Service
	Kind     string // as chosen by Cloud.Choose
	Values   *annotations.Bag
	Backends nodeports.Backends
	// NamespaceLabels are the labels of the Service's namespace that Cloud.Labels lists.
	NamespaceLabels map[string]string
	// Over reports whether the caller has stopped waiting for the stack; nil: never. See Ended.
	Over func() bool
	// Objects are the ones that Cloud.Refers names.
	Objects map[Reference]Object
	// Find returns the first known owner that matches, to name the Service behind a resource
	// that has a part of its identity; nil: none is known. See Input.OwnerWhere.
	Find func(match func(stack.Owner) bool) (stack.Owner, bool)
}

// OwnerWhere returns the first known owner that matches; false: there is none.
func (in Input[C]) OwnerWhere(match func(stack.Owner) bool) (stack.Owner, bool) {
	if in.Find == nil {
		return stack.Owner{}, false
	}
	return in.Find(match)
}

// ServiceOf names the known Service with a UID, for messages; empty: there is none.
func (in Input[C]) ServiceOf(uid string) string {
	if o, known := in.OwnerWhere(func(o stack.Owner) bool { return uid != "" && o.UID == uid }); known {
		return "Service " + o.String()
	}
	return ""
}

// Ended reports whether the time to build is over and the result is discarded. Loops
// over user input, such as ports, check it and end.
func (in Input[C]) Ended() bool { return in.Over != nil && in.Over() }

// Labels are keys of labels that Services depend on: a change of one is a change of
// the Service.
type Labels struct {
	Service []string // of the Service
	// Namespace are the ones of its namespace. Namespaces are watched only if there are
	// any.
	Namespace []string
}

// Depth is the level of detail of a read.
type Depth int

const (
	// Deep reads everything that is compared.
	Deep Depth = iota
	// Shallow reads what lists of many resources return in few calls: enough to
	// detect the load balancer, not to compare it. Facts are complete at any depth,
	// because Build needs them to determine shared resources.
	Shallow
)

// Lookup requests one resource by one of its properties, for example a security
// group by name. Lookups of many Services are combined into few calls.
type Lookup struct {
	Kind  stack.Kind
	By    string
	Value string
}

// Scope is what to read for one Service.
type Scope struct {
	Owner stack.Owner
	Depth Depth
	// Own lists the places of the Service's resources. An empty list means that it
	// has none yet and only facts are needed.
	Own []Lookup
	// Facts lists the cloud data that the build of the stack needs.
	Facts []Lookup
	// Nodes are backends whose properties in the cloud are facts as well.
	Nodes nodeports.NodeSet
	// Addresses are those of the Service's status, and host names: evidence which of several resources of one mark
	// serves it.
	Addresses []string
	// OthersRead means that every other Service of the cluster has been read before: a session
	// knows what it has noted for them. Until then a resource without a mark may be another one's.
	OthersRead bool
	// Only narrows Own to these kinds, if the caller knows the state of the rest; empty:
	// all. Resources are returned with the ones that contain them, at least with
	// identifier and name. A session can return more.
	Only []stack.Kind
}

// Within reports whether a read for another scope returns everything that one for this scope would.
func (s Scope) Within(other Scope) bool {
	in := func(part, all []Lookup) bool {
		return !slices.ContainsFunc(part, func(l Lookup) bool { return !slices.Contains(all, l) })
	}
	return in(s.Own, other.Own) && in(s.Facts, other.Facts) && s.Nodes.Equal(other.Nodes)
}

// Found is the result of a read for one scope. A failed call is in the Err of the
// scopes that need its result, and in no others: the result for a Service does not
// depend on the Services that were read with it.
type Found[F any] struct {
	Have  *stack.Stack
	Facts F
	// Blind lists the kinds that could not be read, with the causes.
	Blind Blind
	At    time.Time
	Err   error
}

// Outputs lists the annotations, labels and finalizers that a provider writes on
// Services, as the official controllers do.
type Outputs struct {
	Annotations []string
	// Labels of other keys are the user's.
	Labels     []string
	Finalizers []string
	// ClassFinalizers are, by class and "" for none, finalizers that keep a Service until it is
	// released without ours: the official controller of such Services removes them as well, and
	// leaves ours.
	ClassFinalizers map[string][]string
}

// Choice is the provider's first decision about a Service.
type Choice struct {
	Kind string // the kind of load balancer; empty when it is not ours
	// Elsewhere explains to the user why the Service is left alone although its
	// type and class are ours.
	Elsewhere string
}

// Env is the input of a session besides the configuration.
type Env struct {
	Cluster   string           // --cluster-name
	UserAgent string           // appended to the SDK's own
	Now       func() time.Time // the clock
	// AllowUntagged permits a cluster without an id to omit ownership tags
	// (--allow-untagged-cloud); otherwise opening fails.
	AllowUntagged bool
	// ClusterIDs reads identifiers from the cluster; nil: there is no cluster.
	ClusterIDs func(context.Context) (ClusterIDs, error)
	// Notes stores notes in the cluster; nil: there is no cluster.
	Notes Notes
	// Pods lists the pods of a namespace with the labels; nil: there is no cluster. Errors
	// are faults.
	Pods func(ctx context.Context, namespace string, labels map[string]string) ([]*corev1.Pod, error)
	// Tokens requests a token of a ServiceAccount from the API server; nil: there is no
	// cluster. Errors are faults, NotFound if the ServiceAccount does not exist.
	Tokens func(ctx context.Context, namespace, account string) (AccountToken, error)
	// Calls observes every call of the session; nil: none.
	Calls Observe
	// Share is the part of the cloud's documented rates that the session uses, above 0;
	// 0 is kit.DefaultShare. The rest is left to other programs.
	Share float64
	// Waited observes the time that a call has waited for the rate of its class; nil:
	// none. The classes of a cloud are a closed set.
	Waited func(class string, d time.Duration)
}

// ClusterIDs are identifiers that distinguish a cluster from others if
// the cloud configuration has none.
type ClusterIDs struct {
	SystemUID string            // UID of the namespace kube-system
	Ingress   map[string]string // data of the ConfigMap ingress-uid in that namespace
}

// AccountToken authenticates its bearer as a ServiceAccount.
type AccountToken struct {
	Text  string
	UID   string    // of the ServiceAccount; empty: not in the token
	Until time.Time // end of its validity
}

// Session is an open connection to one cloud. Both functions take work of many
// Services at once and return one result per item, in order.
type Session[F any] interface {
	Read(ctx context.Context, scopes []Scope) []Found[F]
	Apply(ctx context.Context, b plan.Batch) []plan.Outcome
}

// Yielder is a Session in which a write for many Services waits for writes of single ones.
type Yielder interface {
	// Yield returns when the batch should be sent, after some seconds at most. While
	// writes wait for the rates of the cloud, the ones that add steps to the next batch
	// are sent before it. Steps that arrive meanwhile can join the batch.
	Yield(ctx context.Context, b plan.Batch)
}

// Sweeper is a Session that can list resources with the cluster's marks without a
// scope.
type Sweeper interface {
	// Orphans returns resources that carry this cluster's marks and belong to none of the
	// live Services, by the owner that the marks name, with proofs as in Read. Marks can
	// contain a part of a Service's identity: missing fields are empty, and the name is
	// then that of the resource.
	Orphans(ctx context.Context, live Live) ([]*stack.Stack, error)
}

// Live is the content of a cluster that the cloud is compared with.
type Live struct {
	Services []stack.Owner
	// Nodes are all nodes: on some clouds machines distinguish clusters.
	Nodes []nodeports.Node
}

// Cloud is one provider: configuration type C, facts type F.
type Cloud[C, F any] struct {
	Traits
	Annotations *annotations.Set
	Setup[C]
	RequestFuncs[C]
	PlaceFuncs[C]
	StackFuncs[C, F]
	PodFuncs[C]
	// Open connects. It returns the configuration, completed from the environment, such
	// as with the region or the cluster's id.
	Open func(context.Context, C, Env) (Session[F], C, error)
}

// Traits are what does not depend on the configuration of a cloud.
type Traits struct {
	Name  string
	Kinds []string // kinds of load balancers, for documentation and metrics
	// Capabilities are those of each of the Kinds.
	Capabilities []Capability
	// Classes are values of spec.loadBalancerClass that the cloud's own controllers
	// serve: ours if we replace them.
	Classes []string
	Rules   diff.Rules
	// Flows computes the traffic that the stacks of all owners admit, desired or observed. Nil:
	// unknown for this cloud.
	Flows traffic.Func
	// Outputs are what Status can write on a Service besides its addresses: they
	// are removed when the Service is released.
	Outputs Outputs
	// OnDelete are the keys of annotations, and of labels in Outputs, that place resources of
	// a Service where its identity does not lead, such as in a resource group of the user.
	// OwnedScope gets their raw values, unchecked.
	OnDelete []string
	// FoundByName reports whether a resource that was found for an owner, and is the owner's
	// alone, is attributed by namespace and name, without the UID: a later Service of the same
	// name finds it as well. Nil: UIDs identify the owner of every resource.
	FoundByName func(stack.Owner, stack.Resource) bool
	// MatchFound gives observed resources that only the desired stack can identify the key
	// of their desired resource.
	MatchFound func(want, have *stack.Stack) *stack.Stack
	// ProvenByNodes means that the nodes behind a resource are part of its proof: the scope
	// of a release then has all nodes of the cluster.
	ProvenByNodes bool
	// NamedMembers means that the cloud identifies machines behind load balancers by name
	// and removes deleted ones: a machine that is recreated under its name must be
	// registered again, although the desired stack is unchanged.
	NamedMembers bool
	// EachRead means that every read costs calls per Service, also a read of some kinds,
	// instead of shared lists. Few Services are read at a time, so that the first ones are
	// written while the others are read.
	EachRead bool
}

// Setup is the configuration of a cloud, and what follows from it alone.
type Setup[C any] struct {
	// Config reads the official cloud configuration file; nil reader: no file.
	// Problems are keys that are unknown or without effect here.
	Config func(io.Reader) (C, annotations.Problems, error)
	// Settings returns the values of the configuration that annotations depend on, by
	// the names that annotations.Setting uses. Nil: none.
	Settings func(C) map[string]string
	// Labels lists the labels that Services depend on under a configuration, besides
	// declared annotations. Nil: none.
	Labels func(C) Labels
}

// RequestFuncs answer questions about the request of a Service.
type RequestFuncs[C any] struct {
	// Choose returns the kind of load balancer that a Service requests.
	Choose func(*corev1.Service) Choice
	// ChooseUnder is Choose under a configuration, which may also leave a Service alone; see Leaving.
	// Nil: the configuration changes nothing.
	ChooseUnder func(C, *corev1.Service) Choice
	// Refers lists the objects of Kubernetes that a Service refers to, such as Secrets with
	// certificates; Backends and Objects of the input are not set yet. Only these
	// are read, and a change of one is a change of the Service. Nil: none.
	Refers func(Input[C]) []Reference
	// Reach returns the effects of a Service beyond itself; Backends of the input are
	// not set yet.
	Reach func(Input[C]) Reach
	// Judge returns the problems of a new Service that follow from its annotations and fields alone,
	// whatever the configuration and the cloud, beside declared checks and Capabilities. Problems
	// that are no errors are ignored. The configuration of the input is not set. Nil: there are none.
	Judge func(Input[C]) annotations.Problems
	// Becomes is Reach of the desired stack, if Build keeps choices of a live load
	// balancer that the Service no longer requests: a policy judges both. Nil: Build keeps
	// nothing that concerns a policy.
	Becomes func(in Input[C], want *stack.Stack) Reach
	// Select returns the filter of nodes that can be backends; Backends of the input are not set yet.
	Select func(Input[C]) nodeports.Filter
}

// PlaceFuncs return what to read for a Service.
type PlaceFuncs[C any] struct {
	// OwnedScope returns the places of all resources that the Service can own, of every
	// kind, from its identity alone.
	OwnedScope func(Identity[C]) Scope
	// Scope returns the places of the Service's resources, as OwnedScope does, and the
	// facts that Build needs.
	Scope func(Input[C]) (Scope, error)
	// ScopeForCreate is Scope for a Service without any resources: Own lists only the
	// resources whose creation would not be refused if one of their name existed. Shared
	// resources are cached, or their creation succeeds if they exist. Nil: Scope is used.
	ScopeForCreate func(Input[C]) (Scope, error)
}

// StackFuncs compute desired stacks, and what follows from stacks.
type StackFuncs[C, F any] struct {
	// Build returns the desired stack. Problems are the user's; an error is a fault.
	// have is the observed stack, for choices that are kept.
	Build func(in Input[C], facts F, have *stack.Stack) (*stack.Stack, annotations.Problems, error)
	// Forecast describes the steps of a later plan, once the cloud has assigned values
	// that Build cannot know, such as an address. It is called after Build, with the same
	// arguments. Nil: every plan is complete.
	Forecast func(in Input[C], facts F, have *stack.Stack) []string
	// KeepServing returns the desired stack of a Service that has been invalid since the
	// process started: its observed resources, with today's backends. Nil: such a Service
	// is left alone.
	KeepServing func(in Input[C], facts F, have *stack.Stack) *stack.Stack
	// MayWant reports whether a Service that cannot be built may desire the entry. It errs on
	// true.
	MayWant func(Identity[C], stack.Resource) bool
	// BeforeDelete returns observed resources with the values that they need before the release
	// deletes them, such as a deletion protection that the user has switched off; svc is nil
	// for a Service that no longer exists. Nil: none.
	BeforeDelete func(id Identity[C], svc *corev1.Service, have *stack.Stack) []stack.Resource
	// Status returns the addresses for clients, from the existing resources.
	Status func(Input[C], *stack.Stack) status.Result
}

// PodFuncs describe how pods become backends.
type PodFuncs[C any] struct {
	// Endpoints means that backends can be pods: EndpointSlices are watched, and
	// Backends.Endpoints is filled.
	Endpoints bool
	// EndpointsIf does the same only for some configurations. Nil: only Endpoints
	// counts.
	EndpointsIf func(C) bool
	// EndpointsOf reports whether the pods of a Service matter; otherwise a change of pods
	// does not trigger a reconcile. Nil: all matter.
	EndpointsOf func(C, *corev1.Service) bool
	// Virtual returns which nodes are no backends themselves but places of pods, which are backends beside the
	// other nodes. Nil: there are none.
	Virtual func(Input[C]) nodeports.Filter
	// Fallback returns which terminating endpoints of a Service count. Nil: the ones that
	// kube-proxy uses.
	Fallback func(Input[C]) nodeports.Fallback
	// PodsIn reports whether observed resources have pods as members, so that pods matter
	// even if EndpointsOf excludes the Service. Nil: never.
	PodsIn func(have *stack.Stack) bool
	// Gates are the conditions by which pods wait until they are healthy behind their load
	// balancer; the session is an Examiner then.
	Gates PodGates
}
