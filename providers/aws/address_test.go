package aws_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/test/sim"
)

// TestNoAddressWithoutListener verifies that a new load balancer is not published before it has
// a listener, and that the ports of the status have one each.
func TestNoAddressWithoutListener(t *testing.T) {
	setCredentials(t)
	for kind, svc := range map[string]*corev1.Service{
		"nlb":     serviceCase("web", map[string]string{"aws-load-balancer-type": "nlb"}, nil).Service,
		"nlb-lbc": controllerService("web", nil, nil).Service,
	} {
		for operation, served := range map[string]int{"CreateListener": 0, "CreateTargetGroup": 1} {
			t.Run(fmt.Sprint(kind, "/", operation), func(t *testing.T) {
				inWorld(t, func(w *groupWorld) {
					svc := svc.DeepCopy()
					if _, err := w.s.Control().Faults.Add(sim.Fault{Operation: operation, After: served, Kind: sim.FaultError, Status: 400, Code: "TooManyListeners"}); err != nil {
						w.Fatal(err)
					}
					for range 3 {
						res := w.run(svc, false)
						switch in := res.Status.Ingress; {
						case served == 0 && len(in) > 0:
							w.Fatalf("address %v without a listener", in)
						case served == 1 && len(in) != 1:
							w.Fatalf("address %v with a listener", in)
						case served == 1 && kind == "nlb-lbc" && len(in[0].Ports) != 1:
							w.Fatalf("ports %v with one listener", in[0].Ports)
						}
					}
					w.s.Control().Faults.Clear()
					w.live = append(w.live, svc)
					w.good(svc)
					if in := svc.Status.LoadBalancer.Ingress; len(in) != 1 || kind == "nlb-lbc" && len(in[0].Ports) != 2 {
						w.Errorf("address %v in the end", in)
					}
				})
			})
		}
	}
}

// TestNothingKeptUp verifies that a Service without any listener is not reported as kept up.
func TestNothingKeptUp(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		const key = prefix + "aws-load-balancer-eip-allocations"
		svc := serviceCase("web", map[string]string{"aws-load-balancer-type": "nlb"}, nil).Service.DeepCopy()
		svc.Annotations[key] = "eipalloc-1"
		var text string
		for range 3 {
			text = conditions.Programmed(w.run(svc, false)).Message
		}
		if strings.Contains(text, "last accepted") || text == "" {
			w.Errorf("condition %q", text)
		}
		delete(svc.Annotations, key)
		w.good(svc)
		svc.Annotations[key] = "eipalloc-1"
		if text := conditions.Programmed(w.run(svc, false)).Message; strings.Contains(text, "serves nothing") {
			w.Errorf("condition %q of a Service that is served", text)
		}
	})
}
