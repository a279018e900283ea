package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// looksAtPage reads the page of the controller with tokens of the API server: one whose account may
// list the Services of the namespace, one without rights, and one that was not issued.
func (r *release) looksAtPage(service string) {
	w := r.w
	w.t.Helper()
	for _, name := range []string{"viewer", "guest"} {
		_, err := w.Client.CoreV1().ServiceAccounts(w.ns).Create(w.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		w.must(err)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "viewer"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"list"}}}}
	_, err := w.Client.RbacV1().Roles(w.ns).Create(w.t.Context(), role, metav1.CreateOptions{})
	w.must(err)
	_, err = w.Client.RbacV1().RoleBindings(w.ns).Create(w.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "viewer"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.ns, Name: "viewer"}},
	}, metav1.CreateOptions{})
	w.must(err)
	viewer, guest := w.token(w.ns, "viewer"), w.token(w.ns, "guest")
	w.eventually("the page shows a Service to a user with the right", func() error {
		status, body, err := r.readPage("/api/v1/services", viewer)
		if err == nil && (status != http.StatusOK || !strings.Contains(body, service)) {
			err = fmt.Errorf("status %d: %s", status, body)
		}
		return err
	})
	w.eventually("the replica that leads shows the graph", func() error {
		_, body, err := r.readPage("/api/v1/services/"+w.ns+"/"+service, viewer)
		if err == nil && !strings.Contains(body, "network-load-balancer") {
			err = fmt.Errorf("no graph in %s", body)
		}
		return err
	})
	for token, want := range map[string]int{guest: http.StatusForbidden, "forged": http.StatusUnauthorized, "": http.StatusUnauthorized} {
		for _, path := range []string{"/api/v1/services", "/api/v1/services/" + w.ns + "/" + service, "/api/v1/shared"} {
			status, body, err := r.readPage(path, token)
			if err != nil || status != want || strings.Contains(body, w.ns) || strings.Contains(body, `"`+service) {
				w.t.Errorf("%s: status %d, want %d: %v\n%s", path, status, want, err, body)
			}
		}
	}
}

// readPage sends a request to the page. The certificate is that of its Secret.
func (r *release) readPage(path, token string) (int, string, error) {
	list, err := r.w.Client.CoreV1().Secrets(r.namespace).List(r.w.t.Context(), metav1.ListOptions{})
	if err != nil {
		return 0, "", err
	}
	trusted := x509.NewCertPool()
	for _, secret := range list.Items {
		if strings.HasSuffix(secret.Name, "-page") {
			trusted.AppendCertsFromPEM(secret.Data["ca.crt"])
		}
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "localhost", MinVersion: tls.VersionTLS12}}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(r.w.t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", r.page, path), http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}
