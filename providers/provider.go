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

// Identity is all that may be known of a Service when it is released: enough to
// find what it owns, whatever its annotations say today.
type Identity[C any] struct {
	Owner   stack.Owner
	Cluster string // --cluster-name
	Config  C
	// Places are the annotations that Cloud.OnDelete lists, as far as the Service has
	// them; nothing else that the user wrote says where something of it is.
	Places map[string]string
}

// Input is what is known of a Service when its stack is built.
type Input[C any] struct {
	Identity[C]
	Service  *corev1.Service
	Kind     string // as chosen by Cloud.Choose
	Values   *annotations.Bag
	Backends nodeports.Backends
	// NamespaceLabels are those of the Service's namespace that Cloud.Labels lists, as
	// far as the namespace has them.
	NamespaceLabels map[string]string
	// Over tells that nobody waits for the stack any more; nil: never. See Ended.
	Over func() bool
	// Objects are those that Cloud.Refers names.
	Objects map[Reference]Object
}

// Ended tells that the time to build is over, and what is built is thrown away: loops
// over what users can write many of, such as ports, ask it and end.
func (in Input[C]) Ended() bool { return in.Over != nil && in.Over() }

// Labels are keys of labels that decide on Services: a change of one is a change of
// the Service.
type Labels struct {
	Service []string // of the Service
	// Namespace are those of its namespace. Only where there are any are namespaces
	// watched.
	Namespace []string
}

// Depth says how much a read must bring.
type Depth int

const (
	// Deep reads everything that is compared.
	Deep Depth = iota
	// Shallow reads what lists of many resources bring in few calls: enough to
	// see that the load balancer is there, not to compare it. Facts are whole at
	// any depth, since Build is called with them to know what is shared.
	Shallow
)

// Lookup asks for one thing by one of its properties, for example the security
// group of a name. Look-ups of many Services become few calls.
type Lookup struct {
	Kind  stack.Kind
	By    string
	Value string
}

// Scope is what to read for one Service.
type Scope struct {
	Owner stack.Owner
	Depth Depth
	// Own is where resources of the Service may be. An empty list means that it
	// owns nothing yet and only facts are wanted.
	Own []Lookup
	// Facts is what must be known of the cloud to build the stack.
	Facts []Lookup
	// Nodes are the backends whose properties in the cloud are facts as well.
	Nodes nodeports.NodeSet
	// Only narrows Own to what is of these kinds, where the caller knows how the rest
	// is; empty: all. Things come with those that they are in, by identifier and name
	// at least. A session may bring more.
	Only []stack.Kind
}

// Within tells whether a read for another scope brings all that one for this scope would.
func (s Scope) Within(other Scope) bool {
	in := func(part, all []Lookup) bool {
		return !slices.ContainsFunc(part, func(l Lookup) bool { return !slices.Contains(all, l) })
	}
	return in(s.Own, other.Own) && in(s.Facts, other.Facts) && s.Nodes.Equal(other.Nodes)
}

// Found is what a read brought for one scope. A call that failed is in the Err of the
// scopes that need what it asks for, and in no others: what is got for a Service is
// kept whatever becomes of the Services that were read with it.
type Found[F any] struct {
	Have  *stack.Stack
	Facts F
	// Blind is the kinds that could not be read, and why.
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
	// ClassFinalizers are, of a class, those finalizers of which one alone keeps a
	// Service until it is released: the official controller of the class takes it off
	// as well, and knows none of ours.
	ClassFinalizers map[string][]string
}

// Choice is what the provider makes of a Service before anything else.
type Choice struct {
	Kind string // the kind of load balancer; empty when it is not ours
	// Elsewhere says, for the user, why the Service is left alone although its
	// type and class are ours.
	Elsewhere string
}

// Env is what a session needs besides the configuration.
type Env struct {
	Cluster   string           // --cluster-name
	UserAgent string           // appended to the SDK's own
	Now       func() time.Time // the clock
	// AllowUntagged lets a cluster without an id do without ownership tags
	// (--allow-untagged-cloud); otherwise opening fails for it.
	AllowUntagged bool
	// Cluster ids from the cluster itself; nil: there is no cluster to ask.
	ClusterIDs func(context.Context) (ClusterIDs, error)
	// Notes are those of the cluster; nil: there is no cluster to keep any.
	Notes Notes
	// Pods lists those of a namespace that have the labels; nil: there is no cluster to ask.
	// Errors are faults.
	Pods func(ctx context.Context, namespace string, labels map[string]string) ([]*corev1.Pod, error)
	// Tokens requests a token of a ServiceAccount from the API server; nil: there is no
	// cluster to ask. Errors are faults, NotFound where the ServiceAccount is not there.
	Tokens func(ctx context.Context, namespace, account string) (AccountToken, error)
	// Calls is told of every call that the session makes; nil: nobody is.
	Calls Observe
	// Share is the part of the cloud's documented rates that the session uses, above 0;
	// 0 is kit.DefaultShare. The rest is left to other programs.
	Share float64
	// Waited is told how long a call has waited until the rate of its class allowed
	// it; nil: nobody is. The classes of a cloud are a closed set.
	Waited func(class string, d time.Duration)
}

// ClusterIDs are the identifiers by which a cluster is told from others where
// the cloud configuration does not say it.
type ClusterIDs struct {
	SystemUID string            // UID of the namespace kube-system
	Ingress   map[string]string // data of the ConfigMap ingress-uid in that namespace
}

// AccountToken says to others that who has it is a ServiceAccount.
type AccountToken struct {
	Text  string
	UID   string    // of the ServiceAccount; empty: the token does not say it
	Until time.Time // it is good no longer than that
}

// Session is an open connection to one cloud. Both functions take work of many
// Services at once and answer one result per item, in order.
type Session[F any] interface {
	Read(ctx context.Context, scopes []Scope) []Found[F]
	Apply(ctx context.Context, b plan.Batch) []plan.Outcome
}

// Yielder is a Session in which a write for many Services lets those of each go first.
type Yielder interface {
	// Yield returns when the batch should go out, after some seconds at most: while
	// writes wait for the rates of the cloud, those that bring more into the next batch
	// are better made before it. Steps that come meanwhile may go along.
	Yield(ctx context.Context, b plan.Batch)
}

// Sweeper is a Session that can say what carries the cluster's marks, without
// being told where to look.
type Sweeper interface {
	// Orphans returns what carries this cluster's marks and belongs to none of the
	// live Services, by the owner that the marks name, with proofs as Read gives
	// them. Marks may tell less than a Service's whole identity: what they leave
	// open is empty, and the name is then that of the thing itself.
	Orphans(ctx context.Context, live Live) ([]*stack.Stack, error)
}

// Live is what a cluster has, against which the cloud is held.
type Live struct {
	Services []stack.Owner
	// Nodes are all of them: on some clouds machines are what tells clusters apart.
	Nodes []nodeports.Node
}

// Cloud is one provider: configuration type C, facts type F.
type Cloud[C, F any] struct {
	Name  string
	Kinds []string // kinds of load balancers, for documentation and metrics
	// Capabilities are what each of the Kinds can do.
	Capabilities []Capability
	// Classes are values of spec.loadBalancerClass that the cloud's own controllers
	// serve: ours where we take their place.
	Classes     []string
	Annotations *annotations.Set
	// Config reads the official cloud configuration file; nil reader: no file.
	// Problems are keys that are unknown or without effect here.
	Config func(io.Reader) (C, annotations.Problems, error)
	// Settings returns the values of the configuration on which annotations depend, by
	// the names that annotations.Setting uses. Nil: none do.
	Settings func(C) map[string]string
	// Choose says which kind of load balancer a Service asks for.
	Choose func(*corev1.Service) Choice
	// Left says, for the user, why under this configuration a Service is left alone
	// although Choose has a kind for it; empty: it is served. Nil: all are.
	Left func(C, *corev1.Service) string
	// Refers lists the objects of Kubernetes that a Service refers to, such as Secrets with
	// certificates; Backends and Objects of the input are not set yet. They alone are
	// read, and a change of one is a change of the Service. Nil: none are.
	Refers func(Input[C]) []Reference
	// Reach says how far a Service reaches beyond itself; Backends of the input are
	// not set yet.
	Reach func(Input[C]) Reach
	// Becomes is Reach of what Build wants, where that keeps choices of a live load
	// balancer that the Service no longer asks for: a policy judges both. Nil: nothing is
	// kept that a policy is about.
	Becomes func(in Input[C], want *stack.Stack) Reach
	// Select says which nodes may be backends; Backends of the input are not set yet.
	Select func(Input[C]) nodeports.Filter
	// OwnedScope says where anything that the Service may own can be found, of every
	// kind, from its identity alone.
	OwnedScope func(Identity[C]) Scope
	// ProvenByNodes says that the nodes behind a resource are part of its proof, so that the
	// scope of a release has all nodes of the cluster.
	ProvenByNodes bool
	// OnDelete are the keys of annotations by which users put something of a Service
	// where its identity does not lead, such as into a group of their own. OwnedScope is
	// told their values as they are, unchecked.
	OnDelete []string
	// BeforeDelete returns found resources as they must be before the release deletes
	// them, such as a protection against deletion that the user has switched off; svc is nil
	// for a Service that no longer exists. Nil: nothing is.
	BeforeDelete func(id Identity[C], svc *corev1.Service, have *stack.Stack) []stack.Resource
	// Scope says where resources of the Service may be, as OwnedScope does, and which
	// facts Build needs.
	Scope func(Input[C]) (Scope, error)
	// ScopeForCreate is Scope for a Service for which nothing was ever made: Own has only what
	// must be looked at nevertheless, because a creation would not be refused if
	// something of its name were there. What others share is known without being
	// looked up, or its creation succeeds where it is there. Nil: Scope serves.
	ScopeForCreate func(Input[C]) (Scope, error)
	// Build says what is wanted. Problems are the user's; an error is a fault.
	// have is what was found, for choices that stay as they are.
	Build func(in Input[C], facts F, have *stack.Stack) (*stack.Stack, annotations.Problems, error)
	// Forecast says in words what another plan will do once the cloud has chosen what
	// Build cannot know, such as an address. It is called after Build, with the same
	// arguments. Nil: every plan says all.
	Forecast func(in Input[C], facts F, have *stack.Stack) []string
	// KeepServing says what is wanted of a Service that cannot be understood and never
	// was since the process started: what is there, with today's backends. Nil: such
	// a Service is left alone.
	KeepServing func(in Input[C], facts F, have *stack.Stack) *stack.Stack
	// MatchFound gives found resources, whose place only the wish can tell, the key
	// of the wanted resource that they are.
	MatchFound func(want, have *stack.Stack) *stack.Stack
	// MayWant errs on yes: might this Service, which cannot be built, want the entry?
	MayWant func(Identity[C], stack.Resource) bool
	Rules   diff.Rules
	// Flows computes what the stacks of all owners let through, desired or observed. Nil:
	// not known of this cloud.
	Flows traffic.Func
	// Status says what clients may use, from what exists.
	Status func(Input[C], *stack.Stack) status.Result
	// Outputs are what Status may write on a Service besides its addresses: they
	// are taken off when the Service is released.
	Outputs Outputs
	// Endpoints says that backends may be pods: EndpointSlices are watched, and
	// Backends.Endpoints is filled.
	Endpoints bool
	// EndpointsIf asks for the same only under some configurations. Nil: Endpoints
	// alone counts.
	EndpointsIf func(C) bool
	// EndpointsOf tells Services whose pods matter from others, to which a pod that
	// comes or goes then is nothing. Nil: all matter.
	EndpointsOf func(C, *corev1.Service) bool
	// PodsIn reports whether found resources have pods as members, so that pods decide on
	// them even if EndpointsOf excludes the Service. Nil: they never do.
	PodsIn func(have *stack.Stack) bool
	// Gates are the conditions by which pods wait until they are healthy behind their load
	// balancer; the session is an Examiner then.
	Gates PodGates
	// NamedMembers says that the cloud knows machines behind load balancers by their
	// names and takes out those that are deleted: one that is made anew under its name
	// must be put in again, although nothing that is wanted has changed.
	NamedMembers bool
	// EachRead says that a read costs calls for each Service, also of one that only looks
	// for some kinds, instead of lists that serve all: few are read at a time, so that
	// what the first ones need is done while the others are read.
	EachRead bool
	// Labels lists the labels that decide on Services under a configuration, besides
	// those that are annotations. Nil: there are none.
	Labels func(C) Labels
	// Open connects. The configuration comes back completed by what only the
	// environment knows, such as the region or the cluster's id.
	Open func(context.Context, C, Env) (Session[F], C, error)
}
