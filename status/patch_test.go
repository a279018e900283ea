package status

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

const (
	stockFinalizer = "service.kubernetes.io/load-balancer-cleanup"
	ownFinalizer   = Prefix + "load-balancer"
)

var (
	before = time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	now    = time.Date(2026, 11, 20, 9, 30, 15, 123456789, time.FixedZone("x", 3600))
)

func pointerTo[T any](v T) *T { return &v }

// storedService returns a Service with something of every writer on it.
func storedService(change ...func(*corev1.Service)) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			UID:         "u-1",
			Finalizers:  []string{"foreign.example/a", stockFinalizer},
			Annotations: map[string]string{"foreign.example/a": "1", AnnotationApplied: "d1"},
		},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
		Status: corev1.ServiceStatus{
			LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.1", IPMode: pointerTo(corev1.LoadBalancerIPModeVIP)}}},
			Conditions: []metav1.Condition{
				{Type: "foreign.example/Ready", Status: "True", Reason: "Yes", LastTransitionTime: metav1.NewTime(before)},
				{Type: TypeAccepted, Status: "True", Reason: "Accepted", Message: "ok", LastTransitionTime: metav1.NewTime(before)},
				{Type: TypeReplacing, Status: "True", Reason: "Replacing", LastTransitionTime: metav1.NewTime(before)},
			},
		},
	}
	for _, c := range change {
		c(svc)
	}
	return svc
}

func balancerStatus(entries ...corev1.LoadBalancerIngress) *corev1.LoadBalancerStatus {
	return &corev1.LoadBalancerStatus{Ingress: entries}
}

const uid = `{"metadata":{"uid":"u-1"}`

func TestPatch(t *testing.T) {
	vip := corev1.LoadBalancerIPModeVIP
	for name, tc := range map[string]struct {
		old  *corev1.Service
		want Want
		body string // empty: no patch
	}{
		"nothing asked":     {old: storedService()},
		"nothing different": {old: storedService(), want: Want{Now: now, LoadBalancer: balancerStatus(IP("192.0.2.1", vip)), Conditions: []Condition{Accepted("ok")}, AddFinalizers: []string{stockFinalizer}, DropFinalizers: []string{ownFinalizer}, DropConditions: []string{TypeProgrammed}, Annotations: map[string]string{AnnotationApplied: "d1", Prefix + "gone": ""}}},
		"no mode given is VIP": {
			old: storedService(), want: Want{LoadBalancer: balancerStatus(corev1.LoadBalancerIngress{IP: "192.0.2.1"})},
		},
		"no mode stored is VIP": {
			old:  storedService(func(s *corev1.Service) { s.Status.LoadBalancer.Ingress[0].IPMode = nil }),
			want: Want{LoadBalancer: balancerStatus(IP("192.0.2.1", vip))},
		},
		"another spelling of the address": {
			old:  storedService(func(s *corev1.Service) { s.Status.LoadBalancer.Ingress[0].IP = "2600:1900:0:1:0:0:0:0" }),
			want: Want{LoadBalancer: balancerStatus(IP("2600:1900:0:1::", vip))},
		},
		"empty ports are no ports": {
			old:  storedService(func(s *corev1.Service) { s.Status.LoadBalancer.Ingress[0].Ports = []corev1.PortStatus{} }),
			want: Want{LoadBalancer: balancerStatus(IP("192.0.2.1", vip))},
		},
		"address": {
			old: storedService(), want: Want{LoadBalancer: balancerStatus(IP("192.0.2.2", corev1.LoadBalancerIPModeProxy), Hostname("LB.Example."))},
			body: uid + `,"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.2","ipMode":"Proxy"},{"hostname":"lb.example"}]}}}`,
		},
		"mode": {
			old: storedService(), want: Want{LoadBalancer: balancerStatus(IP("192.0.2.1", corev1.LoadBalancerIPModeProxy))},
			body: uid + `,"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1","ipMode":"Proxy"}]}}}`,
		},
		"order of addresses": {
			old: storedService(func(s *corev1.Service) {
				s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "a"}, {Hostname: "b"}}
			}),
			want: Want{LoadBalancer: balancerStatus(Hostname("b"), Hostname("a"))},
			body: uid + `,"status":{"loadBalancer":{"ingress":[{"hostname":"b"},{"hostname":"a"}]}}}`,
		},
		"no address any more": {
			old: storedService(), want: Want{LoadBalancer: balancerStatus()},
			body: uid + `,"status":{"loadBalancer":{"ingress":null}}}`,
		},
		"no address, as before": {
			old:  storedService(func(s *corev1.Service) { s.Status.LoadBalancer.Ingress = nil }),
			want: Want{LoadBalancer: balancerStatus()},
		},
		"what the server would refuse": {
			old: storedService(), want: Want{LoadBalancer: balancerStatus(corev1.LoadBalancerIngress{Hostname: "under_score"}, IP("192.0.2.1", vip))},
		},
		"no longer a load balancer": {
			old: storedService(func(s *corev1.Service) {
				s.Spec.Type, s.Status.LoadBalancer.Ingress = corev1.ServiceTypeClusterIP, nil
			}),
			want: Want{LoadBalancer: balancerStatus(IP("192.0.2.1", vip)), DropFinalizers: []string{stockFinalizer}},
			body: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["service.kubernetes.io/load-balancer-cleanup"],"uid":"u-1"}}`,
		},
		"message": {
			old: storedService(), want: Want{Now: now, Conditions: []Condition{Accepted("still ok")}},
			body: uid + `,"status":{"conditions":[{"lastTransitionTime":"2026-11-01T08:00:00Z","message":"still ok","reason":"Accepted","status":"True","type":"berth-lb.io/Accepted"}]}}`,
		},
		"status": {
			old: storedService(), want: Want{Now: now, Conditions: []Condition{NotAccepted(ReasonInvalidAnnotation, "x")}},
			body: uid + `,"status":{"conditions":[{"lastTransitionTime":"2026-11-20T08:30:15Z","message":"x","reason":"InvalidAnnotation","status":"False","type":"berth-lb.io/Accepted"}]}}`,
		},
		"new condition, sorted by type": {
			old: storedService(), want: Want{Now: now, Conditions: []Condition{Programmed("p"), NotAccepted(ReasonInvalidSpec, "x"), {Type: "foreign.example/Ready", Status: "False", Reason: "No"}}},
			body: uid + `,"status":{"conditions":[{"lastTransitionTime":"2026-11-20T08:30:15Z","message":"x","reason":"InvalidSpec","status":"False","type":"berth-lb.io/Accepted"},` +
				`{"lastTransitionTime":"2026-11-20T08:30:15Z","message":"p","reason":"Programmed","status":"True","type":"berth-lb.io/Programmed"}]}}`,
		},
		"the last of a type counts": {
			old: storedService(), want: Want{Now: now, Conditions: []Condition{NotAccepted(ReasonInvalidSpec, "x"), Accepted("ok")}},
		},
		"null time is filled in": {
			old:  storedService(func(s *corev1.Service) { s.Status.Conditions[1].LastTransitionTime = metav1.Time{} }),
			want: Want{Now: now, Conditions: []Condition{Accepted("ok")}},
			body: uid + `,"status":{"conditions":[{"lastTransitionTime":"2026-11-20T08:30:15Z","message":"ok","reason":"Accepted","status":"True","type":"berth-lb.io/Accepted"}]}}`,
		},
		"observed generation is taken off": {
			old:  storedService(func(s *corev1.Service) { s.Status.Conditions[1].ObservedGeneration = 3 }),
			want: Want{Now: now, Conditions: []Condition{Accepted("ok")}},
			body: uid + `,"status":{"conditions":[{"lastTransitionTime":"2026-11-01T08:00:00Z","message":"ok","observedGeneration":null,"reason":"Accepted","status":"True","type":"berth-lb.io/Accepted"}]}}`,
		},
		"condition taken off": {
			old: storedService(), want: Want{DropConditions: []string{TypeReplacing, "foreign.example/Ready"}},
			body: uid + `,"status":{"conditions":[{"$patch":"delete","type":"berth-lb.io/Replacing"}]}}`,
		},
		"finalizers": {
			old: storedService(), want: Want{AddFinalizers: []string{"z", ownFinalizer, "z", stockFinalizer}, DropFinalizers: []string{stockFinalizer, "not.there"}},
			body: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["service.kubernetes.io/load-balancer-cleanup"],"finalizers":["berth-lb.io/load-balancer","z"],"uid":"u-1"}}`,
		},
		"no new finalizer while being deleted": {
			old:  storedService(func(s *corev1.Service) { s.DeletionTimestamp = pointerTo(metav1.NewTime(before)) }),
			want: Want{AddFinalizers: []string{ownFinalizer}},
		},
		"annotations": {
			old: storedService(), want: Want{Annotations: map[string]string{AnnotationApplied: "", Prefix + "class": "x", "foreign.example/a": "", "foreign.example/b": "2"}},
			body: `{"metadata":{"annotations":{"berth-lb.io/applied":null,"berth-lb.io/class":"x"},"uid":"u-1"}}`,
		},
		"no uid known": {
			old:  storedService(func(s *corev1.Service) { s.UID = "" }),
			want: Want{LoadBalancer: balancerStatus()},
			body: `{"status":{"loadBalancer":{"ingress":null}}}`,
		},
		"released": {
			old: storedService(), want: Released(now, stockFinalizer),
			body: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["service.kubernetes.io/load-balancer-cleanup"],"annotations":{"berth-lb.io/applied":null},"uid":"u-1"},` +
				`"status":{"conditions":[{"$patch":"delete","type":"berth-lb.io/Accepted"},{"$patch":"delete","type":"berth-lb.io/Replacing"}],"loadBalancer":{"ingress":null}}}`,
		},
		"what a provider answered": {
			old: storedService(), want: Want{Now: now, Conditions: []Condition{Accepted("ok")}}.With(Result{Ingress: []corev1.LoadBalancerIngress{IP("192.0.2.1", vip)}, Conditions: []Condition{PortsError("m")}}),
			body: uid + `,"status":{"conditions":[{"lastTransitionTime":"2026-11-20T08:30:15Z","message":"m","reason":"LoadBalancerMixedProtocolNotSupported","status":"True","type":"LoadBalancerPortsError"}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			asRead := tc.old.DeepCopy()
			body, differs := Patch(tc.old, tc.want)
			if diff := cmp.Diff(tc.body, string(body)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if differs != (tc.body != "") {
				t.Errorf("want differs %t, got %t", tc.body != "", differs)
			}
			if diff := cmp.Diff(asRead, tc.old); diff != "" {
				t.Errorf("the Service was written to (-want +got):\n%s", diff)
			}
			if differs {
				if again, more := Patch(applyPatch(t, tc.old, body), tc.want); more {
					t.Errorf("after the patch there is still something to do: %s", again)
				}
			}
		})
	}
}

// applyPatch applies a patch as the API server does, defaulting included.
func applyPatch(t *testing.T, svc *corev1.Service, body []byte) *corev1.Service {
	t.Helper()
	original, err := json.Marshal(svc)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(original, body, corev1.Service{})
	if err != nil {
		t.Fatalf("apply %s: %v", body, err)
	}
	out := &corev1.Service{}
	if err := json.Unmarshal(merged, out); err != nil {
		t.Fatal(err)
	}
	for i := range out.Status.LoadBalancer.Ingress {
		if in := &out.Status.LoadBalancer.Ingress[i]; in.IP != "" && in.IPMode == nil {
			in.IPMode = pointerTo(corev1.LoadBalancerIPModeVIP)
		}
	}
	return out
}

// TestPatchSparesOthers applies patches to a Service that others have changed
// since it was read.
func TestPatchSparesOthers(t *testing.T) {
	old := storedService()
	changed := storedService(func(s *corev1.Service) {
		s.Finalizers = append([]string{"foreign.example/new"}, s.Finalizers...)
		s.Annotations["foreign.example/new"] = "2"
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: "foreign.example/New", Status: "True", Reason: "Yes", LastTransitionTime: metav1.NewTime(before)})
		s.Status.Conditions[0].Status = "False"
		s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	})
	body, _ := Patch(old, Want{
		Now: now, LoadBalancer: balancerStatus(Hostname("lb.example")),
		Conditions: []Condition{NotAccepted(ReasonInvalidSpec, "x"), Programmed("p")}, DropConditions: []string{TypeReplacing},
		AddFinalizers: []string{ownFinalizer}, DropFinalizers: []string{stockFinalizer},
		Annotations: map[string]string{AnnotationApplied: "d2"},
	})
	got := applyPatch(t, changed, body)

	want := changed.DeepCopy()
	want.Annotations[AnnotationApplied] = "d2"
	want.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "lb.example"}}
	want.Finalizers = []string{"foreign.example/new", "foreign.example/a", ownFinalizer}
	at := metav1.NewTime(now.Truncate(time.Second))
	want.Status.Conditions = []metav1.Condition{
		want.Status.Conditions[0],
		{Type: TypeAccepted, Status: "False", Reason: "InvalidSpec", Message: "x", LastTransitionTime: at},
		{Type: TypeProgrammed, Status: "True", Reason: "Programmed", Message: "p", LastTransitionTime: at},
		want.Status.Conditions[3],
	}
	byType := func(list []metav1.Condition) map[string]metav1.Condition {
		out := map[string]metav1.Condition{}
		for _, c := range list {
			out[c.Type] = c
		}
		return out
	}
	if a, b := byType(want.Status.Conditions), byType(got.Status.Conditions); !equality.Semantic.DeepEqual(a, b) {
		t.Errorf("conditions (-want +got):\n%s", cmp.Diff(a, b))
	}
	set := func(list []string) map[string]bool {
		out := map[string]bool{}
		for _, f := range list {
			out[f] = true
		}
		return out
	}
	if diff := cmp.Diff(set(want.Finalizers), set(got.Finalizers)); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	want.Status.Conditions, got.Status.Conditions, want.Finalizers, got.Finalizers = nil, nil, nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
}

func TestPatchIsStable(t *testing.T) {
	want := Released(now, stockFinalizer, "foreign.example/a")
	want.Annotations[Prefix+"a"], want.Annotations[Prefix+"b"], want.Annotations[Prefix+"c"] = "1", "2", "3"
	first, _ := Patch(storedService(), want)
	for range 50 {
		if again, _ := Patch(storedService(), want); string(again) != string(first) {
			t.Fatalf("want %s, got %s", first, again)
		}
	}
}

func TestPatchShortensMessages(t *testing.T) {
	want := Want{Now: now, Conditions: []Condition{Accepted(strings.Repeat("ä", 5000) + "\xff")}}
	body, _ := Patch(storedService(), want)
	svc := applyPatch(t, storedService(), body)
	if got := svc.Status.Conditions[1].Message; len(got) > 4096 || len(got) < 4090 || !strings.HasSuffix(got, "ä...") {
		t.Errorf("message of %d bytes ends in %q", len(got), got[len(got)-8:])
	}
	if again, more := Patch(svc, want); more {
		t.Errorf("a shortened message is written each time: %.100s", again)
	}
}

func TestWithLeavesItsInputAlone(t *testing.T) {
	conditions := make([]Condition, 1, 4)
	w := Want{Conditions: conditions}
	w.With(Result{Conditions: []Condition{PortsError("a")}})
	if conditions[:2][1] != (Condition{}) {
		t.Error("With wrote behind the end of the conditions that it was given")
	}
}
