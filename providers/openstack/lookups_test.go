package openstack_test

import (
	"net/http"
	"testing"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestOthersFacts: a key manager that fails holds up the Service that names a certificate,
// and none that is read together with it.
func TestOthersFacts(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "")
		plain, secured := namedService("plain", 8000), namedService("secured", 9000)
		secured = withAnnotations(secured, prefixedKeys("default-tls-container-ref", "http://barbican.example"+w.running.Cloud.Seed.Certificate))
		if _, err := w.Control().Faults.Add(sim.Fault{Operation: "ShowContainer", Kind: sim.FaultError, Status: http.StatusServiceUnavailable}); err != nil {
			t.Fatal(err)
		}
		told := make(chan error)
		go func() {
			_, err := w.process.Draft(t.Context(), reconcile.Job{Service: secured})
			told <- err
		}()
		_, err := w.process.Draft(t.Context(), reconcile.Job{Service: plain})
		if err != nil {
			t.Errorf("the other Service is held up: %v", err)
		}
		if err := <-told; err == nil {
			t.Error("the Service whose certificate cannot be looked up is planned")
		}
	})
}
