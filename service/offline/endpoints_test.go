package offline

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
)

// TestSlicesOfFiles: slices of files are those of the Service that their label names,
// in the namespace that objects without one are in.
func TestSlicesOfFiles(t *testing.T) {
	const text = `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 1}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}, addressType: IPv4}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSliceList, items: [
  {metadata: {name: api-1, namespace: other, labels: {kubernetes.io/service-name: api}}}, {metadata: {name: nobodys}}]}
`
	w, err := Gather(context.Background(), Input{Files: []string{"-"}, Stdin: strings.NewReader(text), Namespace: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string][]string{"mine/web": {"web-1"}, "other/api": {"api-1"}}, sliceNames(w.slices)); d != "" || len(w.Notes) > 0 {
		t.Errorf("notes %v, slices (-want +got):\n%s", w.Notes, d)
	}
}

func sliceNames(s slicesByService) map[string][]string {
	out := map[string][]string{}
	for name, list := range s {
		for _, e := range list {
			out[name] = append(out[name], e.Name)
		}
		slices.Sort(out[name])
	}
	return out
}

// TestSlicesOfACluster: slices are read page by page, or by planned namespace for a caller
// that may not list all. Slices of files take precedence, and slices are read only where
// pods matter.
func TestSlicesOfACluster(t *testing.T) {
	for _, restricted := range []bool{false, true} {
		client, _, err := Input{}.dial(sliceServer(t, restricted))
		if err != nil {
			t.Fatal(err)
		}
		job := func(name string) task {
			svc := newLive("shop", name)
			return task{item: Item{Service: &svc}, job: &reconcile.Job{Service: &svc}}
		}
		p := &planning{
			world: World{live: client, slices: slicesByService{"shop/api": {newSlice("shop", "api", "written")}}},
			tasks: []task{job("web"), job("api"), job("elsewhere")},
			reconciler: reconcile.New(providers.Bound{Pods: providers.Pods{Endpoints: true, EndpointsOf: func(svc *corev1.Service) bool {
				return svc.Name != "elsewhere"
			}}}, reconcile.Options{}),
		}
		if err := p.point(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := slicesByService{}
		for _, task := range p.tasks {
			if list := task.job.Slices; list != nil {
				got[task.item.Service.Name] = list
			}
		}
		if d := cmp.Diff(map[string][]string{"web": {"web-1", "web-2"}, "api": {"written"}}, sliceNames(got)); d != "" {
			t.Errorf("restricted %t (-want +got):\n%s", restricted, d)
		}
		p.world.live, p.world.slices = nil, nil
		if err := p.point(t.Context()); err != nil || len(p.world.Notes) != 1 {
			t.Errorf("without cluster and slices: %v, notes %v", err, p.world.Notes)
		}
	}
}

func newSlice(namespace, service, name string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: service}}}
}

// sliceServer is an API server with two slices of one Service, a page each, and
// returns a kubeconfig for it.
func sliceServer(t *testing.T, restricted bool) string {
	t.Helper()
	all := []discoveryv1.EndpointSlice{*newSlice("shop", "web", "web-1"), *newSlice("shop", "web", "web-2")}
	list := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		page := discoveryv1.EndpointSliceList{TypeMeta: metav1.TypeMeta{Kind: "EndpointSliceList", APIVersion: "discovery.k8s.io/v1"}, Items: all[:1]}
		page.Continue = "more"
		if r.URL.Query().Get("continue") == "more" {
			page.Items, page.Continue = all[1:], ""
		}
		if err := json.NewEncoder(w).Encode(page); err != nil {
			t.Error(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/discovery.k8s.io/v1/namespaces/shop/endpointslices", list)
	mux.HandleFunc("GET /apis/discovery.k8s.io/v1/endpointslices", func(w http.ResponseWriter, r *http.Request) {
		if !restricted {
			list(w, r)
			return
		}
		e := apierrors.NewForbidden(discoveryv1.Resource("endpointslices"), "", nil)
		e.ErrStatus.Kind, e.ErrStatus.APIVersion = "Status", "v1"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		if err := json.NewEncoder(w).Encode(e.ErrStatus); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return writeKubeconfig(t, server.URL)
}
