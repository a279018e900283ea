package e2e

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/harness"
)

// TestAnonymous: a request without credentials gets no page with data of the program, from
// the controller and from the program with our plugin alike. A token without the right is
// refused as well; one with the right is accepted.
func TestAnonymous(t *testing.T) {
	w := startWorld(t, 1)
	for name, run := range map[string]func(flags ...string) *harness.Process{"controller": w.controller, "plugin": w.plugin} {
		t.Run(name, func(t *testing.T) {
			p, flags := guardedPortFlags(t, w)
			run(append(flags, "--profiling")...)
			p.answers("/healthz", http.StatusOK)
			for _, path := range append(debugPages(), "/", "/debug/", "/debug/pprof/cmdline", "/flagz", "/statusz", "/debug/flags/v", "/debug/controllers") {
				if path == "/healthz?verbose" || path == "/readyz?verbose" {
					continue // for probes, which show nothing
				}
				if status, _ := p.get(path); status != http.StatusForbidden && status != http.StatusUnauthorized {
					t.Errorf("%s answers %d to an unknown user", path, status)
				}
			}
		})
	}
}

// TestReaders: a token is asked about, and what it may read it reads.
func TestReaders(t *testing.T) {
	w := startWorld(t, 1)
	p, flags := guardedPortFlags(t, w)
	w.controller(append(flags, "--profiling")...)
	p.answers("/healthz", http.StatusOK)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "reader"}}
	_, err := w.Client.CoreV1().ServiceAccounts(w.ns).Create(t.Context(), account, metav1.CreateOptions{})
	w.must(err)
	p.token = w.token(w.ns, "reader")
	if status, _ := p.get("/debug/pprof/symbol"); status != http.StatusForbidden {
		t.Errorf("an account without the right gets %d", status)
	}
	name := "reads-" + w.ns
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics", "/debug/pprof/*"}, Verbs: []string{"get"}}}}
	_, err = w.Client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	w.must(err)
	_, err = w.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.ns, Name: "reader"}},
	}, metav1.CreateOptions{})
	w.must(err)
	p.answers("/metrics", http.StatusOK, "berth_")
	p.answers("/debug/pprof/goroutine?debug=1", http.StatusOK, "goroutine profile")
	p.token = "nonsense"
	if status, _ := p.get("/metrics"); status != http.StatusUnauthorized {
		t.Errorf("a token that was not issued gets %d", status)
	}
}

// guardedPortFlags returns the flags of a controller that lets the API server authorize
// readers.
func guardedPortFlags(t *testing.T, w *world) (*securePort, []string) {
	t.Helper()
	p, flags := securePortFlags(t)
	kubeconfig := w.Cluster.Kubeconfig("")
	return p, append(flags[:len(flags)-1], "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig, "--authentication-skip-lookup=false")
}
