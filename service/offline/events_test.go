package offline

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

// TestEventsAreOfThisService: events of an earlier Service of the same name are not shown. A
// caller that may not list events sees everything else.
func TestEventsAreOfThisService(t *testing.T) {
	svc := newLive("shop", "web")
	for name, allowed := range map[string]bool{"allowed": true, "forbidden": false} {
		t.Run(name, func(t *testing.T) {
			in := Input{Names: []string{"web"}}
			in.Kubeconfig = writeKubeconfig(t, eventServer(t, svc, allowed))
			found, err := Status(t.Context(), in, Judge{})
			if err != nil {
				t.Fatal(err)
			}
			text, err := found.Render("human", 0)
			if err != nil || !strings.Contains(text, "shop/web") {
				t.Fatalf("%v:\n%s", err, text)
			}
			if strings.Contains(text, "of this one") != allowed || strings.Contains(text, "of the one before") || strings.Contains(text, "events are not shown") == allowed {
				t.Errorf("got:\n%s", text)
			}
		})
	}
}

// eventServer has a Service, an event on it, and one on a Service that had its name
// before; it returns its address.
func eventServer(t *testing.T, svc corev1.Service, allowed bool) string {
	t.Helper()
	kind := func(name string) metav1.TypeMeta { return metav1.TypeMeta{Kind: name, APIVersion: "v1"} }
	mux := http.NewServeMux()
	list := func(path string, v any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { writeJSON(t, w, http.StatusOK, v) })
	}
	services := corev1.ServiceList{TypeMeta: kind("ServiceList"), Items: []corev1.Service{svc}}
	list("/api/v1/services", services)
	list("/api/v1/namespaces/shop/services", services)
	list("/api/v1/nodes", corev1.NodeList{TypeMeta: kind("NodeList")})
	list("/api/v1/namespaces", corev1.NamespaceList{TypeMeta: kind("NamespaceList")})
	mux.HandleFunc("GET /api/v1/namespaces/shop/events", func(w http.ResponseWriter, r *http.Request) {
		if !allowed {
			e := apierrors.NewForbidden(corev1.Resource("events"), "", nil)
			e.ErrStatus.TypeMeta = kind("Status")
			writeJSON(t, w, http.StatusForbidden, e.ErrStatus)
			return
		}
		asked, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
		if err != nil {
			t.Error(err)
			return
		}
		out := corev1.EventList{TypeMeta: kind("EventList")}
		for uid, text := range map[types.UID]string{svc.UID: "of this one", "before": "of the one before"} {
			if asked.Matches(fields.Set{"involvedObject.kind": "Service", "involvedObject.name": svc.Name, "involvedObject.uid": string(uid)}) {
				out.Items = append(out.Items, corev1.Event{Type: corev1.EventTypeWarning, Reason: "InvalidAnnotation", Message: text})
			}
		}
		writeJSON(t, w, http.StatusOK, out)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func writeJSON(t *testing.T, w http.ResponseWriter, code int, v any) {
	t.Helper()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		t.Error(err)
	}
}
