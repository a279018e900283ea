package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/test/cluster"
)

var chartLabels = cluster.Shared{Options: cluster.Options{Audit: true, EmulatedVersion: "1.34", NoWatchLists: true}}

// byNamespace gives the cluster two pairs of load balancers; the second is for
// namespaces with a label.
const byNamespace = `{"multipleStandardLoadBalancerConfigurations": [
	{"name": "kubernetes", "primaryVMSet": "none"},
	{"name": "prod", "primaryVMSet": "nothing", "serviceNamespaceSelector": {"matchLabels": {"env": "prod"}}}],`

// TestAzureNamespaces: Services follow the labels of their namespace, in the chart's
// program with exactly the rights that it needs for that, and under the stock loop.
func TestAzureNamespaces(t *testing.T) {
	t.Parallel()
	t.Run("chart", func(t *testing.T) {
		p := onAzure()
		p.plane = &chartLabels
		var r *release
		p.install = func(w *world) {
			w.severalBalancers()
			r = w.throughChart()
			r.isWatched(w.controller())
		}
		w := p.namespaces(t)
		w.repeatsAnEvent(w.one(p.kinds[0], 0))
		r.leastRights()
	})
	t.Run("plugin", func(t *testing.T) {
		p := underTheStockLoop(onAzure())
		p.install = func(w *world) {
			w.severalBalancers()
			w.pod = w.plugin
			w.controller()
		}
		p.namespaces(t)
	})
}

// severalBalancers rewrites the cloud configuration before a controller reads it.
func (w *world) severalBalancers() {
	w.t.Helper()
	w.must(w.Sim.Configure(func(conf string) string { return strings.Replace(conf, "{", byNamespace, 1) }))
}

// namespaces labels the namespace of Services, changes the label and takes it away.
func (p *place) namespaces(t *testing.T) *world {
	w := p.start(t, 3)
	before := w.dump()
	fleet := w.many(len(p.kinds))
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.areOn("kubernetes", "no label yet")
	for _, c := range []struct{ value, on string }{{`"prod"`, "prod"}, {`"test"`, "kubernetes"}, {`"prod"`, "prod"}, {"null", "kubernetes"}} {
		body := fmt.Sprintf(`{"metadata": {"labels": {"env": %s}}}`, c.value)
		_, err := w.Client.CoreV1().Namespaces().Patch(t.Context(), w.ns, types.MergePatchType, []byte(body), metav1.PatchOptions{})
		w.must(err)
		w.areOn(c.on, "label "+c.value)
		w.programmed(fleet...)
	}
	w.remove(fleet...)
	w.nothingLeft(before)
	return w
}

// areOn waits until every kind of Service is on the load balancers of a name.
func (w *world) areOn(name, what string) {
	w.t.Helper()
	c, err := dialAzure(w.Sim.URL)
	w.must(err)
	w.eventually(what, func() error {
		pager := c.NewLoadBalancersClient().NewListPager(azureGroup, nil)
		all, err := readPages(w.t.Context(), pager.More, pager.NextPage, func(p armnetwork.LoadBalancersClientListResponse) []*armnetwork.LoadBalancer { return p.Value })
		if err != nil {
			return err
		}
		got := map[string]int{}
		for _, lb := range all {
			got[*lb.Name] = len(lb.Properties.FrontendIPConfigurations)
		}
		return diffError("frontends by load balancer", map[string]int{name: 1, name + "-internal": 1}, got)
	})
}
