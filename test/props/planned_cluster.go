package props

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// apiServer holds the Services and Nodes of a pair, and lists them for the command line.
type apiServer struct {
	t          *testing.T
	subject    Plannable
	kubeconfig string
	services   map[string]*corev1.Service
	nodes      []corev1.Node
}

func startAPIServer(t *testing.T, s Plannable) *apiServer {
	t.Helper()
	a := &apiServer{t: t, subject: s, services: map[string]*corev1.Service{}, nodes: s.KubernetesNodes()}
	mux := http.NewServeMux()
	list := func(path string, items func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(items()); err != nil {
				t.Error(err)
			}
		})
	}
	list("/api/v1/services", func() any {
		out := corev1.ServiceList{TypeMeta: metav1.TypeMeta{Kind: "ServiceList", APIVersion: "v1"}}
		for _, svc := range a.all() {
			out.Items = append(out.Items, *svc)
		}
		return out
	})
	list("/api/v1/nodes", func() any {
		return corev1.NodeList{TypeMeta: metav1.TypeMeta{Kind: "NodeList", APIVersion: "v1"}, Items: a.nodes}
	})
	list("/api/v1/namespaces", func() any {
		return corev1.NamespaceList{TypeMeta: metav1.TypeMeta{Kind: "NamespaceList", APIVersion: "v1"}}
	})
	list("/apis/discovery.k8s.io/v1/endpointslices", func() any {
		out := discoveryv1.EndpointSliceList{TypeMeta: metav1.TypeMeta{Kind: "EndpointSliceList", APIVersion: "discovery.k8s.io/v1"}}
		for _, svc := range a.all() {
			for _, slice := range slicesOf(s, svc) {
				slice = slice.DeepCopy()
				slice.Namespace = svc.Namespace
				metav1.SetMetaDataLabel(&slice.ObjectMeta, discoveryv1.LabelServiceName, svc.Name)
				out.Items = append(out.Items, *slice)
			}
		}
		return out
	})
	url := virtual.Start(t, mux)
	a.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	config := "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: '" + url + "'}}]\n" +
		"contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n"
	if err := os.WriteFile(a.kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// get is a copy of a Service; nil if there is none.
func (a *apiServer) get(name string) *corev1.Service { return a.services[name].DeepCopy() }

func (a *apiServer) put(svc *corev1.Service) { a.services[svc.Name] = svc.DeepCopy() }

func (a *apiServer) remove(name string) { delete(a.services, name) }

// all are copies of the Services, by name.
func (a *apiServer) all() []*corev1.Service {
	var out []*corev1.Service
	for name := range a.services {
		out = append(out, a.get(name))
	}
	slices.SortFunc(out, func(x, y *corev1.Service) int {
		if x.Name < y.Name {
			return -1
		}
		return 1
	})
	return out
}

// takeNode takes a node out of the cluster and returns its name.
func (a *apiServer) takeNode(random *rand.Rand) string {
	i := random.IntN(len(a.nodes))
	name := a.nodes[i].Name
	a.nodes = slices.Delete(slices.Clone(a.nodes), i, i+1)
	return name
}

func (a *apiServer) projected() []nodeports.Node { return Project(a.nodes) }

// uidOf makes a UID of a short name.
func uidOf(name string) types.UID {
	uid := []byte("5a0c1f6e-0000-4000-8000-000000000000")
	const digits = "0123456789abcdef"
	for i, c := range []byte(name) {
		uid[len(uid)-1-i] = digits[c%16]
	}
	return types.UID(uid)
}
