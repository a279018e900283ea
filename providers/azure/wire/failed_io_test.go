package wire

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/virtual"
)

func addPrivateLink(s *corev1.Service) {
	s.Annotations["service.beta.kubernetes.io/azure-pls-create"] = "true"
	s.Annotations["service.beta.kubernetes.io/azure-pls-ip-configuration-subnet"] = "links"
}

// TestFailedOperations: Azure accepts a write, and its operation fails. The error is
// reported in Azure's words, and the next plan writes again, also where the content is
// already as desired.
func TestFailedOperations(t *testing.T) {
	for _, c := range []struct {
		operation string
		kind      string
		change    func(*corev1.Service)
		path      func(*rig, *corev1.Service) string
	}{
		{"LoadBalancers.CreateOrUpdate", model.Internal, nil, func(r *rig, _ *corev1.Service) string { return r.Config.BalancerID("kubernetes-internal") }},
		{"PublicIPAddresses.CreateOrUpdate", model.Public, nil, func(r *rig, s *corev1.Service) string {
			return r.Config.PublicIPID(model.PublicIPKey(r.Config.Group, "kubernetes-"+model.BaseName(string(s.UID))))
		}},
		{"SecurityGroups.CreateOrUpdate", model.Public, nil, func(r *rig, _ *corev1.Service) string { return r.Config.SecurityID() }},
		{"PrivateLinkServices.CreateOrUpdate", model.Internal, addPrivateLink, func(r *rig, s *corev1.Service) string {
			return model.ARMID(r.Config.Subscription, r.Config.Group, "privateLinkServices", "pls-"+model.BaseName(string(s.UID)))
		}},
	} {
		virtual.Run(t, c.operation, func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC}})
			svc := numberedService(1, c.kind, c.change)
			if _, err := r.sim.Cloud.Faults.Add(sim.Fault{Operation: "async/" + c.operation, Kind: sim.FaultError, Code: "InternalServerError", Message: "the fabric said no", Count: 1}); err != nil {
				t.Fatal(err)
			}
			_, err := r.run(svc, false)
			if err == nil || fault.Of(err) != fault.Ambiguous || !strings.Contains(err.Error(), "the fabric said no") {
				t.Fatalf("got %v, want what the operation said", err)
			}
			o, err := r.Session.get(t.Context(), c.path(r, svc), networkVersion)
			if err != nil || model.StateOf(o) != stack.Failed {
				t.Fatalf("the test is wrong: %v, state %v of %s", err, model.StateOf(o), o.Bytes())
			}
			have, p := r.Plan(svc, false)
			if report := r.Engine.Run(t.Context(), p, have, nil); report.Err() != nil || !writesAgain(report) {
				t.Errorf("the next plan: %v, %v", p.Steps, report.Err())
			}
			if o, err = r.Session.get(t.Context(), c.path(r, svc), networkVersion); err != nil || model.StateOf(o) != stack.Ready {
				t.Errorf("after the next plan: %v, %s", err, o.Props().Text("provisioningState"))
			}
			if _, err := r.run(svc, false); err != nil {
				t.Error(err)
			}
		})
	}
}

func writesAgain(report engine.Report) bool {
	for _, res := range report.Results {
		if res.State == engine.Done {
			return true
		}
	}
	return false
}
