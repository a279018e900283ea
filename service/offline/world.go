package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Input says where Services and Nodes come from.
type Input struct {
	// Files hold Services, and Nodes if one likes; "-" is Stdin, a folder is all
	// YAML and JSON files below it. Without files the cluster is read.
	Files []string
	// Lenient reading skips documents that are no Kubernetes objects in any file, accepts
	// duplicate Services, and records a World.Fault for each file that cannot be read.
	// In folders documents that are no objects are always skipped.
	Lenient bool
	// Sources are texts that are read like Files.
	Sources []Source
	// NodeFiles hold the Nodes of the cluster.
	NodeFiles []string
	Stdin     io.Reader
	// Kubeconfig is the one of the cluster; empty: the one that kubectl would take, if
	// it has a context.
	Kubeconfig string
	// Offline takes Files for Services of a cluster that is not known.
	Offline bool
	// Namespace is that of objects which name none, and the one that is looked
	// at in a cluster; empty: that of the kubeconfig, else "default".
	Namespace     string
	Overrides     clientcmd.ConfigOverrides // of the kubeconfig, as kubectl's flags say
	AllNamespaces bool                      // look at every namespace of the cluster
	Selector      string                    // a label selector for the Services to show
	// Names are those of the Services to show; none: all. Each must be there.
	Names []string
	// Changes are made to the annotations of the Services to show.
	Changes []Change
}

// Source is the text of a file that is not on the disk.
type Source struct {
	Name     string // leads positions and notes
	Body     []byte
	InFolder bool // the user named its folder only
}

// RegisterConnection adds the flags that kubectl has for the cluster.
func (in *Input) RegisterConnection(set *pflag.FlagSet) {
	set.StringVar(&in.Kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: that of kubectl)")
	flags := clientcmd.RecommendedConfigOverrideFlags("")
	flags.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{} // our own flag of that name means more
	clientcmd.BindOverrideFlags(&in.Overrides, set, flags)
}

// dial connects to the cluster of the flags.
func (in Input) dial(kubeconfig string) (kubernetes.Interface, string, error) {
	return connectTo(kubeconfig, &in.Overrides)
}

// Item is one Service that a command looks at.
type Item struct {
	Service *corev1.Service
	// Problems are what the API server would refuse or drop.
	Problems []plan.Problem
	// Asked distinguishes a Service that is to be shown from one that only counts as a
	// user of shared resources.
	Asked bool
	// Written tells a Service of a file from one of a cluster.
	Written bool
	// MadeUp says what only a cluster assigns and was therefore made up; empty:
	// nothing.
	MadeUp string
	// Assumed says what the cluster decides and was assumed; empty: nothing was.
	Assumed string

	at place // of a Written one
}

// Owner names the owner that the item's Service is.
func (i Item) Owner() stack.Owner { return reconcile.OwnerOf(i.Service) }

// withoutMadeUp returns the Service without node ports that its file does not name.
func (i Item) withoutMadeUp() *corev1.Service {
	svc := i.Service.DeepCopy()
	for n := range svc.Spec.Ports {
		if !i.at.contains(fmt.Sprintf("spec.ports[%d].nodePort", n)) {
			svc.Spec.Ports[n].NodePort = 0
		}
	}
	if !i.at.contains("spec.healthCheckNodePort") {
		svc.Spec.HealthCheckNodePort = 0
	}
	return svc
}

// Refused reports whether the API server would refuse the Service.
func (i Item) Refused() bool { return hasErrors(i.Problems) }

// World is everything that a command looks at.
type World struct {
	Items []Item // by namespace and name
	Nodes []*corev1.Node
	// Whole means that no Service of the cluster is missing, or that the files
	// are taken for the whole cluster because there is none to ask.
	Whole bool
	// Alone means that no cluster was asked: other Services may exist.
	Alone bool
	Notes []string // what was passed over on the way, counted
	// Passed lists each document that was passed over.
	Passed []string
	// Faults are what could not be read; only a Lenient input has any.
	Faults []Finding

	ids func(context.Context) (providers.ClusterIDs, error) // nil: no cluster
	// namespaces are those of files; others are asked for only where they decide.
	namespaces labelsByName
	slices     slicesByService      // those of files, as well
	live       kubernetes.Interface // nil: no cluster
}

// Gather reads files and cluster.
func Gather(ctx context.Context, in Input) (World, error) {
	return gatherWorld(ctx, in, in.dial)
}

func gatherWorld(ctx context.Context, in Input, dial dialer) (World, error) {
	selector, err := labels.Parse(in.Selector)
	if err != nil {
		return World{}, fmt.Errorf("selector %q: %w", in.Selector, err)
	}
	live, notes, err := clusterFor(ctx, in, dial)
	if err != nil {
		return World{}, err
	}
	w, err := fromFiles(ctx, in, live)
	if err != nil {
		return World{}, err
	}
	w.Alone, w.Notes = live == nil, append(w.Notes, notes...)
	if live != nil {
		w.join(in, live)
		w.ids, w.live = live.ids, live.client
	}
	for i := range w.Items {
		item := &w.Items[i]
		item.Asked = item.Asked && selector.Matches(labels.Set(item.Service.Labels))
	}
	if err := w.only(ctx, in, live); err != nil {
		return World{}, err
	}
	if err := w.change(in.Changes); err != nil {
		return World{}, err
	}
	slices.SortStableFunc(w.Items, func(a, b Item) int { return a.Owner().Compare(b.Owner()) })
	return w, nil
}

// clusterFor reads the cluster that Services are in or meant for; nil: none is known. Files
// are planned against the current context of kubectl, if it may be read.
func clusterFor(ctx context.Context, in Input, dial dialer) (live *cluster, notes []string, err error) {
	switch {
	case in.Offline && len(in.Files)+len(in.Sources) > 0:
		return nil, nil, nil
	case len(in.Files) == 0 || in.Kubeconfig != "":
		live, err = readCluster(ctx, in, dial)
		return live, nil, err
	case !in.hasContext():
		return nil, nil, nil
	}
	live, err = readCluster(ctx, in, dial)
	switch {
	case apierrors.IsForbidden(err):
		return nil, []string{"the cluster of the current context cannot be read, so the Services are planned as new: " + err.Error()}, nil
	case err != nil:
		return nil, nil, fmt.Errorf("%w (with --offline the Services are planned as new, without the cluster of the current context)", err)
	}
	return live, nil, nil
}

// hasContext reports whether kubectl would have a cluster to talk to.
func (in Input) hasContext() bool {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &in.Overrides).RawConfig()
	if err != nil {
		return true // the connection reports the error
	}
	return config.CurrentContext != "" || in.Overrides.CurrentContext != ""
}

// only leaves only the Services of the names to be shown. With a namespace that has
// no Service it asks whether there is such a namespace: a plan of nothing would say
// that all is well.
func (w *World) only(ctx context.Context, in Input, live *cluster) error {
	for _, name := range in.Names {
		if !slices.ContainsFunc(w.Items, func(i Item) bool { return i.Asked && i.Service.Name == name }) {
			return fmt.Errorf("service %s: %w among what is looked at (see --namespace)", name, errNotFound)
		}
	}
	if len(in.Names) > 0 {
		for i := range w.Items {
			w.Items[i].Asked = w.Items[i].Asked && slices.Contains(in.Names, w.Items[i].Service.Name)
		}
	}
	empty := !slices.ContainsFunc(w.Items, func(i Item) bool { return i.Service.Namespace == in.Namespace })
	if live == nil || in.Namespace == "" || in.AllNamespaces || !empty {
		return nil
	}
	_, err := live.client.CoreV1().Namespaces().Get(ctx, in.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("namespace %s: %w in the cluster", in.Namespace, errNotFound)
	}
	return nil
}

// errNotFound means that a named object does not exist.
var errNotFound = errors.New("there is none")

func (w *World) note(text string) { w.Notes = append(w.Notes, text) }

func hasErrors(problems []plan.Problem) bool {
	return slices.ContainsFunc(problems, func(p plan.Problem) bool { return p.Severity == plan.Error })
}

// in lists the Services of a namespace.
func (w World) in(namespace string) []*corev1.Service {
	var out []*corev1.Service
	for _, i := range w.Items {
		if i.Service.Namespace == namespace {
			out = append(out, i.Service)
		}
	}
	return out
}
