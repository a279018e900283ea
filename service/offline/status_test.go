package offline

import (
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/golden"
)

// newStood returns a Service with conditions, and with the address unless it is empty.
func newStood(name, address string, conditions ...metav1.Condition) Item {
	svc := serviceOf(name, corev1.ServicePort{Port: 80, Protocol: corev1.ProtocolTCP, NodePort: 30080})
	if address != "" {
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{status.Hostname(address)}
	}
	for i := range conditions {
		conditions[i].LastTransitionTime = metav1.NewTime(time.Unix(1e9, 0))
	}
	svc.Status.Conditions = append(conditions, metav1.Condition{Type: "example.com/Other", Status: metav1.ConditionTrue})
	return Item{Service: svc, Asked: true}
}

func newCondition(kind string, reason status.Reason, fine bool, message string) metav1.Condition {
	truth := metav1.ConditionFalse
	if fine {
		truth = metav1.ConditionTrue
	}
	return metav1.Condition{Type: kind, Status: truth, Reason: string(reason), Message: message}
}

// TestStatus: hours after the events have expired, the table names every cause, and the
// view of one Service contains every detail.
func TestStatus(t *testing.T) {
	all := Standings{}
	for _, item := range []Item{
		newStood("fine", "lb.example.com", newCondition(status.TypeAccepted, status.ReasonAccepted, true, ""), newCondition(status.TypeProgrammed, status.ReasonProgrammed, true, "nlb a1 serves 80/TCP")),
		newStood("warned", "lb.example.com", newCondition(status.TypeAccepted, status.ReasonAccepted, true, "x/y: is not known, so it has no effect"), newCondition(status.TypeProgrammed, status.ReasonProgrammed, true, "nlb a2 serves 80/TCP")),
		newStood("refused", "", newCondition(status.TypeAccepted, status.ReasonInvalidAnnotation, false, `x/idle: "9" is above 4; legal is 1 to 4`), newCondition(status.TypeProgrammed, status.ReasonNotAccepted, false, "nothing was changed")),
		newStood("denied", "", newCondition(status.TypeAccepted, status.ReasonAccepted, true, ""), newCondition(status.TypeProgrammed, status.ReasonDenied, false, "create listener: not authorized")),
		newStood("other", ""),
	} {
		all.Services = append(all.Services, newStanding(item))
	}
	for name, s := range map[string]Standings{"table": all, "tree": {Services: all.Services[1:3], named: true}} {
		text, err := s.Render("human", 0)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", "status-"+name+".golden"), text)
	}
	for n, want := range map[int]int{2: plan.ExitNothing, 3: plan.ExitChanges, 5: plan.ExitChanges} {
		if got := (Standings{Services: all.Services[:n]}).ExitCode(); got != want {
			t.Errorf("the first %d: exit code %d, want %d", n, got, want)
		}
	}
}
