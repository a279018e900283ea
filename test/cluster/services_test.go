package cluster

import (
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWatchedService: the copy follows creations, changes and deletions, also those before the first look.
func TestWatchedService(t *testing.T) {
	c := plane.Cluster(t)
	namespace := c.Namespace(t)
	api := newClient(t, c).CoreV1().Services(namespace)
	made, err := api.Create(t.Context(), loadBalancer(namespace, "web"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	follows := func(version string) {
		t.Helper()
		Eventually(t, soon, func() error {
			got, ok, err := c.WatchedService(namespace, "web")
			switch {
			case err != nil:
				return err
			case !ok && version != "":
				return errors.New("the Service is not reported")
			case ok && got.ResourceVersion != version:
				return fmt.Errorf("version %s is reported, want %q", got.ResourceVersion, version)
			}
			return nil
		})
	}
	follows(made.ResourceVersion)
	made.Spec.Ports[0].Port = 81
	changed, err := api.Update(t.Context(), made, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	follows(changed.ResourceVersion)
	if err := api.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	follows("")
}
