package plugin

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
)

// view is the cluster as the program's informers show it.
type view struct {
	factory  informers.SharedInformerFactory
	services corelisters.ServiceLister
	nodes    corelisters.NodeLister

	mu      sync.Mutex
	given   map[*reconcile.Reconciler]string // the versions of the nodes that it was given last
	waiting map[string]*corev1.Service       // by UID, Services not planned yet; nil before the first call
}

// newView asks for the informers before the program starts them.
func newView(factory informers.SharedInformerFactory) *view {
	return &view{
		factory: factory, services: factory.Core().V1().Services().Lister(), nodes: factory.Core().V1().Nodes().Lister(),
		given: map[*reconcile.Reconciler]string{},
	}
}

// freshen gives the reconciler the nodes as the informer has them now. An event
// handler of ours could come after the stock loop's, which is why the list itself
// is looked at.
func (v *view) freshen(r *reconcile.Reconciler) error {
	all, err := v.nodes.List(labels.Everything())
	if err != nil {
		return err
	}
	now := nodeVersions(all)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.given[r] == now {
		return nil
	}
	nodes := make([]nodeports.Node, 0, len(all))
	for _, n := range all {
		nodes = append(nodes, nodeports.Project(n, func(string) bool { return true }))
	}
	r.SetNodes(nodes)
	v.given[r] = now
	return nil
}

// nodeVersions identifies a set of nodes: equal texts, equal nodes.
func nodeVersions(nodes []*corev1.Node) string {
	each := make([]string, 0, len(nodes))
	for _, n := range nodes {
		each = append(each, n.Name+"@"+n.ResourceVersion)
	}
	slices.Sort(each)
	return strings.Join(each, " ")
}

// newest returns the present Service; false if it is deleted, or another one has
// its name.
func (v *view) newest(svc *corev1.Service) (*corev1.Service, bool) {
	now, err := v.services.Services(svc.Namespace).Get(svc.Name)
	if err != nil || now.UID != svc.UID {
		return svc, false
	}
	return now, true
}

// in lists the Services of a namespace that the stock loop serves: those without a class.
func (v *view) in(namespace string) []*corev1.Service {
	all, _ := v.services.Services(namespace).List(labels.Everything()) // a lister of a running informer does not fail
	return slices.DeleteFunc(all, func(svc *corev1.Service) bool { return svc.Spec.LoadBalancerClass != nil })
}

// planned records that the desired state of a Service is known. It returns true once
// that holds for every Service that ours selects.
func (v *view) planned(svc *corev1.Service, ours func(*corev1.Service) bool) (bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.waiting == nil {
		all, err := v.services.List(labels.Everything())
		if err != nil {
			return false, err
		}
		v.waiting = map[string]*corev1.Service{}
		for _, s := range all {
			if ours(s) {
				v.waiting[string(s.UID)] = s
			}
		}
	}
	if _, news := v.waiting[string(svc.UID)]; !news || len(v.waiting) == 1 {
		// The stock loop has completed a round: a Service still missing may never follow.
		for uid, s := range v.waiting {
			if now, there := v.newest(s); !there || !ours(now) {
				delete(v.waiting, uid)
			}
		}
	}
	delete(v.waiting, string(svc.UID))
	return len(v.waiting) == 0, nil
}

// isServed reports whether the stock loop requests a Service from us.
func isServed(svc *corev1.Service) bool {
	return service.Classes{Default: true}.Claim(svc) == service.Served
}
