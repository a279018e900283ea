package alibaba_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestListenersBesideGone: a list of the listeners of several load balancers that is refused because one of them was
// deleted does not hide the listeners of the others.
func TestListenersBesideGone(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onNet().Begin(t, withNodes(2))
		cloud := w.Open(t)
		var scopes []providers.Scope
		for i := range 2 {
			svc := account.Numbered(i, nil, func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] })
			asNet(svc)
			w.Serve(svc)
			scopes = append(scopes, cloud.OwnedScope(reconcile.OwnerOf(svc), svc))
		}
		if _, err := w.Control().Faults.Add(sim.Fault{Operation: "ListListeners", Count: 1, Kind: sim.FaultError, Code: "ResourceNotFound.LoadBalancer"}); err != nil {
			t.Fatal(err)
		}
		for _, found := range cloud.Read(t.Context(), scopes) {
			if n := len(found.Have.Of(model.KindNetListener)); n != 1 || found.Err != nil {
				t.Errorf("%s has %d listeners, %v", found.Have.Owner, n, found.Err)
			}
		}
	})
}
