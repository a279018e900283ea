package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestGroupsOnAWS: 3 Services are created at once on one load balancer, with one host name.
// They are deleted in each order. The others have no gap: none of their resources is written,
// and they keep their host name. Deleting the last Service deletes everything.
func TestGroupsOnAWS(t *testing.T) {
	w := startWorld(t, 3)
	w.serveController()
	before := w.state()
	w.controller()
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		all := w.groupOfThree(strings.Trim(fmt.Sprint(order), "[]"))
		host := w.hostOf(all[0].Name)
		for i, gone := range order {
			since := w.now()
			w.remove(all[gone])
			for _, left := range order[i+1:] {
				w.must(diffError("host name of "+all[left].Name, host, w.hostOf(all[left].Name)))
				w.programmed(all[left])
			}
			if i < 2 {
				w.must(w.onlyOwnWent(since))
			}
		}
		w.asBefore(before)
	}
}

// groupOfThree makes the members of a group at once, and wants one host name of them.
func (w *world) groupOfThree(of string) []corev1.Service {
	w.t.Helper()
	var all []corev1.Service
	for i, number := range []int32{80, 443, 25} {
		name := fmt.Sprintf("group-%s-%d", strings.ReplaceAll(of, " ", ""), i)
		all = append(all, w.service(name, setClass("service.k8s.aws/nlb"), setPorts(number, 0), setAnnotation("berth-lb.io/load-balancer-group", "edge")))
	}
	w.must(w.Create(w.t.Context(), all...))
	w.programmed(all...)
	for _, svc := range all {
		w.must(diffError("host name of "+svc.Name, w.hostOf(all[0].Name), w.hostOf(svc.Name)))
	}
	return all
}

func (w *world) hostOf(name string) string {
	w.t.Helper()
	ingress := w.get(name).Status.LoadBalancer.Ingress
	if len(ingress) != 1 || ingress[0].Hostname == "" {
		w.t.Fatalf("%s has no host name: %v", name, ingress)
	}
	return ingress[0].Hostname
}

// onlyOwnWent wants of the calls since one that they took away the listener, the target
// group and the rule of one Service, and wrote nothing else.
func (w *world) onlyOwnWent(since int) error {
	var errs []error
	calls := map[string]int{}
	for _, e := range w.written(since) {
		if e.Committed {
			calls[e.Operation]++
		}
	}
	w.t.Logf("calls: %v", calls)
	for operation, n := range calls {
		switch operation {
		case "DeleteListener", "DeleteTargetGroup", "RevokeSecurityGroupIngress":
			if n != 1 {
				errs = append(errs, fmt.Errorf("%d calls of %s", n, operation))
			}
		default:
			errs = append(errs, fmt.Errorf("%d calls of %s, which is the others'", n, operation))
		}
	}
	return errors.Join(errs...)
}
