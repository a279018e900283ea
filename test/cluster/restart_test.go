package cluster

import (
	"io"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRestartAPIServer: another process, the same address and the same objects;
// and the end of a control plane that was restarted is an orderly one.
func TestRestartAPIServer(t *testing.T) {
	c, err := Start(t.Context(), Options{NoEndpointSlices: true, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}()
	api := newClient(t, c)
	if _, err := api.CoreV1().Services(metav1.NamespaceDefault).Create(t.Context(), loadBalancer(metav1.NamespaceDefault, "kept"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	url, before := c.URL(), c.Processes()["kube-apiserver"]
	for range 2 {
		if err := c.RestartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := api.CoreV1().Services(metav1.NamespaceDefault).Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	if after := c.Processes()["kube-apiserver"]; after == before || isRunning(before) || !isRunning(after) {
		t.Errorf("process %d before, %d after the restart", before, after)
	}
	if c.URL() != url {
		t.Errorf("address: %s before, %s after the restart", url, c.URL())
	}
}
