package offline

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/golden"
)

// TestLabelsOfACluster: labels are read with a list, or by namespace for a caller that
// may not list them; namespaces that cannot be read or do not exist are missing.
func TestLabelsOfACluster(t *testing.T) {
	for restricted, want := range map[bool]labelsByName{
		false: {"shop": {"env": "prod"}, "other": {"env": "test"}},
		true:  {"shop": {"env": "prod"}},
	} {
		client, _, err := Input{}.dial(apiServer(t, restricted))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readLabels(t.Context(), client, []string{"shop", "other", "gone"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("restricted %t (-want +got):\n%s", restricted, diff)
		}
	}
}

// apiServer answers the lists that are asked for, one object to a page, and
// returns a kubeconfig for it. A restricted caller may not list across
// namespaces.
func apiServer(t *testing.T, restricted bool) string {
	t.Helper()
	services := []corev1.Service{newLive("shop", "web"), newLive("other", "api")}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	refuse := func(w http.ResponseWriter, resource string) {
		e := apierrors.NewForbidden(corev1.Resource(resource), "", nil)
		e.ErrStatus.Kind, e.ErrStatus.APIVersion = "Status", "v1"
		answer(w, http.StatusForbidden, e.ErrStatus)
	}
	mux.HandleFunc("GET /api/v1/services", func(w http.ResponseWriter, r *http.Request) {
		if restricted {
			refuse(w, "services")
			return
		}
		list := corev1.ServiceList{TypeMeta: metav1.TypeMeta{Kind: "ServiceList", APIVersion: "v1"}, Items: services[:1]}
		list.Continue = "more"
		if r.URL.Query().Get("continue") == "more" {
			list.Items, list.Continue = services[1:], ""
		}
		answer(w, http.StatusOK, list)
	})
	mux.HandleFunc("GET /api/v1/namespaces/shop/services", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, corev1.ServiceList{TypeMeta: metav1.TypeMeta{Kind: "ServiceList", APIVersion: "v1"}, Items: services[:1]})
	})
	mux.HandleFunc("GET /api/v1/nodes", func(w http.ResponseWriter, _ *http.Request) {
		list := corev1.NodeList{TypeMeta: metav1.TypeMeta{Kind: "NodeList", APIVersion: "v1"}}
		list.Items = []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "live-node"}}}
		answer(w, http.StatusOK, list)
	})
	mux.HandleFunc("GET /api/v1/namespaces", func(w http.ResponseWriter, r *http.Request) {
		list := corev1.NamespaceList{TypeMeta: metav1.TypeMeta{Kind: "NamespaceList", APIVersion: "v1"}, Items: []corev1.Namespace{newNamespace("shop", "prod")}}
		list.Continue = "more"
		if r.URL.Query().Get("continue") == "more" {
			list.Items, list.Continue = []corev1.Namespace{newNamespace("other", "test")}, ""
		}
		if restricted {
			refuse(w, "namespaces")
			return
		}
		answer(w, http.StatusOK, list)
	})
	mux.HandleFunc("GET /api/v1/namespaces/{name}", func(w http.ResponseWriter, r *http.Request) {
		switch r.PathValue("name") {
		case "shop":
			answer(w, http.StatusOK, newNamespace("shop", "prod"))
		case "other":
			refuse(w, "namespaces")
		default:
			http.NotFound(w, r)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return writeKubeconfig(t, server.URL)
}

func newNamespace(name, env string) corev1.Namespace {
	return corev1.Namespace{TypeMeta: metav1.TypeMeta{Kind: "Namespace", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"env": env}}}
}

func newLive(namespace, name string) corev1.Service {
	svc := corev1.Service{Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
		HealthCheckNodePort: 32000, ClusterIP: "10.96.0.9", ClusterIPs: []string{"10.96.0.9"}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
		Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, NodePort: 31999}},
	}}
	svc.Namespace, svc.Name, svc.UID = namespace, name, "99999999-0000-0000-0000-000000000000"
	svc.Finalizers = []string{"service.kubernetes.io/load-balancer-cleanup"}
	svc.Annotations = map[string]string{"berth-lb.io/applied": "abc;class=", "from": "cluster"}
	return svc
}

func writeKubeconfig(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: '" + url + "'}}]\n" +
		"contexts: [{name: c, context: {cluster: c, user: u, namespace: shop}}]\nusers: [{name: u, user: {}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func listAsked(w World) map[string]bool {
	out := map[string]bool{}
	for _, item := range w.Items {
		out[item.Owner().String()] = item.Asked
	}
	return out
}

func TestCluster(t *testing.T) {
	for name, c := range map[string]struct {
		in    Input
		want  map[string]bool
		whole bool
	}{
		"the kubeconfig's namespace": {Input{}, map[string]bool{"shop/web": true, "other/api": false}, true},
		"another namespace":          {Input{Namespace: "other"}, map[string]bool{"shop/web": false, "other/api": true}, true},
		"all namespaces":             {Input{AllNamespaces: true}, map[string]bool{"shop/web": true, "other/api": true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.Kubeconfig = apiServer(t, false)
			w, err := Gather(context.Background(), c.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, listAsked(w)); diff != "" {
				t.Errorf("services (-want +got):\n%s", diff)
			}
			if len(w.Nodes) != 1 || w.Whole != c.whole {
				t.Errorf("%d nodes, whole %t", len(w.Nodes), w.Whole)
			}
		})
	}
}

// TestClusterOfOneNamespace: a caller that may list one namespace only gets a plan, and shared
// resources are not deleted.
func TestClusterOfOneNamespace(t *testing.T) {
	path := apiServer(t, true)
	w, err := Gather(context.Background(), Input{Kubeconfig: path})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{"shop/web": true}, listAsked(w)); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	if w.Whole || len(w.Notes) != 1 {
		t.Errorf("whole %t, notes %q", w.Whole, w.Notes)
	}
	if _, err := Gather(context.Background(), Input{Kubeconfig: path, AllNamespaces: true}); !apierrors.IsForbidden(err) {
		t.Errorf("all namespaces: want Forbidden, got %v", err)
	}
}

// A file for a cluster is what an update would make of the live Service.
func TestFileForACluster(t *testing.T) {
	text := "apiVersion: v1\nkind: Service\nmetadata: {name: web, annotations: {from: file}}\n" +
		"spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{name: a, port: 80}, {name: b, port: 81, nodePort: 31001}]}\n"
	w, err := Gather(context.Background(), Input{Files: []string{"-"}, Stdin: strings.NewReader(text), Kubeconfig: apiServer(t, false)})
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/update.golden", dumpWorld(t, w))
}

func TestKubeconfigThatIsNotThere(t *testing.T) {
	_, err := Gather(context.Background(), Input{Kubeconfig: filepath.Join(t.TempDir(), "none")})
	if !os.IsNotExist(err) && (err == nil || !strings.Contains(err.Error(), "kubeconfig: ")) {
		t.Errorf("got %v", err)
	}
}

// TestFileForTheCurrentContext: files are planned against the cluster that kubectl would
// take, unless they are said to be offline or there is none.
func TestFileForTheCurrentContext(t *testing.T) {
	text := "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n"
	for name, c := range map[string]struct {
		offline bool
		config  string
		known   bool
	}{
		"a context": {false, apiServer(t, false), true},
		"offline":   {true, apiServer(t, false), false},
		"none":      {false, filepath.Join(t.TempDir(), "none"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", c.config)
			w, err := Gather(t.Context(), Input{Files: []string{"-"}, Stdin: strings.NewReader(text), Offline: c.offline})
			if err != nil {
				t.Fatal(err)
			}
			web := w.Items[len(w.Items)-1].Service
			if known := string(web.UID) == "99999999-0000-0000-0000-000000000000" && !w.Alone; known != c.known || web.Namespace == "shop" != c.known {
				t.Errorf("namespace %s, uid %s, alone %t", web.Namespace, web.UID, w.Alone)
			}
		})
	}
}

// TestAssignedNodePort: a port that the cluster has assigned is in its range.
func TestAssignedNodePort(t *testing.T) {
	svc := newLive("shop", "web")
	svc.Spec.Ports[0].NodePort = 59307
	file := svc.DeepCopy()
	setDefaults(file)
	if problems := specProblems(file); len(problems) != 1 {
		t.Fatalf("problems %v", problems)
	}
	if left := withoutAssigned(specProblems(file), &svc); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}
