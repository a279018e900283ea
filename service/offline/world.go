package offline

import (
	"context"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Input says where Services and Nodes come from.
type Input struct {
	// Files hold Services, and Nodes if one likes; "-" is Stdin, a folder is all
	// YAML and JSON files in it. Without files the cluster is read.
	Files []string
	// NodeFiles hold the Nodes of the cluster.
	NodeFiles []string
	Stdin     io.Reader
	// Kubeconfig is read if it is set, or if there are no Files. Empty then means
	// what kubectl would take.
	Kubeconfig string
	// Namespace is that of objects which name none, and the one that is looked
	// at in a cluster; empty: that of the kubeconfig, else "default".
	Namespace     string
	AllNamespaces bool   // look at every namespace of the cluster
	Selector      string // a label selector for the Services to show
}

// Item is one Service that a command looks at.
type Item struct {
	Service *corev1.Service
	// Problems are what the API server would refuse or drop.
	Problems []plan.Problem
	// Asked tells a Service that is to be shown from one that only counts as a
	// user of what is shared.
	Asked bool
	// Written tells a Service of a file from one of a cluster.
	Written bool
	// MadeUp says what only a cluster assigns and was therefore made up; empty:
	// nothing.
	MadeUp string
}

// Owner names the owner that the item's Service is.
func (i Item) Owner() stack.Owner { return reconcile.OwnerOf(i.Service) }

// Refused tells whether the API server would not take the Service.
func (i Item) Refused() bool { return failed(i.Problems) }

// World is everything that a command looks at.
type World struct {
	Items []Item // by namespace and name
	Nodes []*corev1.Node
	// Whole means that no Service of the cluster is missing, or that the files
	// are taken for the whole cluster because there is none to ask.
	Whole bool
	// Alone means that no cluster was asked: other Services may exist.
	Alone bool
	Notes []string // what was passed over on the way

	ids func(context.Context) (providers.ClusterIDs, error) // nil: no cluster
	// namespaces are those of files; others are asked for only where they decide.
	namespaces labelsByName
	slices     slicesByService      // those of files, as well
	live       kubernetes.Interface // nil: no cluster
}

// Gather reads files and cluster.
func Gather(ctx context.Context, in Input) (World, error) {
	return gather(ctx, in, connect)
}

func gather(ctx context.Context, in Input, dial dialer) (World, error) {
	selector, err := labels.Parse(in.Selector)
	if err != nil {
		return World{}, fmt.Errorf("selector %q: %w", in.Selector, err)
	}
	var live *cluster
	if len(in.Files) == 0 || in.Kubeconfig != "" {
		if live, err = readCluster(ctx, in, dial); err != nil {
			return World{}, err
		}
	}
	w, err := fromFiles(in, live)
	if err != nil {
		return World{}, err
	}
	w.Alone = live == nil
	if live != nil {
		w.join(in, live)
		w.ids, w.live = live.ids, live.client
	}
	for i := range w.Items {
		item := &w.Items[i]
		item.Asked = item.Asked && selector.Matches(labels.Set(item.Service.Labels))
	}
	slices.SortStableFunc(w.Items, func(a, b Item) int { return a.Owner().Compare(b.Owner()) })
	return w, nil
}

func (w *World) note(text string) { w.Notes = append(w.Notes, text) }

func failed(problems []plan.Problem) bool {
	return slices.ContainsFunc(problems, func(p plan.Problem) bool { return p.Severity == plan.Error })
}
