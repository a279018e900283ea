package service

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/status"
)

// newClaimService returns a Service of a class ("" for none), with changes.
func newClaimService(class string, marks ...func(*corev1.Service)) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "1", Annotations: map[string]string{}},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
	}
	if class != "" {
		svc.Spec.LoadBalancerClass = &class
	}
	for _, m := range marks {
		m(svc)
	}
	return svc
}

func markDeleted(s *corev1.Service)       { s.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
func addStockFinalizer(s *corev1.Service) { s.Finalizers = append(s.Finalizers, StockFinalizer) }
func addOwnFinalizer(s *corev1.Service)   { s.Finalizers = append(s.Finalizers, OwnFinalizer) }
func clusterIP(s *corev1.Service)         { s.Spec.Type = corev1.ServiceTypeClusterIP }

func addOfficialFinalizer(s *corev1.Service) { s.Finalizers = append(s.Finalizers, "cloud/finalizer") }

// addClasslessFinalizer adds the official finalizer of Services without a class.
func addClasslessFinalizer(s *corev1.Service) { s.Finalizers = append(s.Finalizers, "cloud/none") }

func withRecordedClass(class string) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Annotations[status.AnnotationApplied] = "0123;class=" + class }
}

func TestClaim(t *testing.T) {
	held := map[string][]string{"": {"cloud/none"}, "berth": {"cloud/finalizer"}, "other": {"cloud/finalizer"}}
	asDefault := Classes{Default: true, Names: []string{"berth"}, Official: held}
	beside := Classes{Names: []string{"berth"}, Official: held}
	forced := Classes{Names: []string{"berth"}, ReleaseUnclaimed: true, Official: held}
	for name, tc := range map[string]struct {
		svc                       *corev1.Service
		asDefault, beside, forced Claim
	}{
		"no class":                            {newClaimService(""), Served, Ignored, Ignored},
		"no class, the stock finalizer":       {newClaimService("", addStockFinalizer), Served, Ignored, Ignored},
		"no class, being deleted":             {newClaimService("", addStockFinalizer, markDeleted), Released, Ignored, Ignored},
		"no class, deleted, never ours":       {newClaimService("", markDeleted), Ignored, Ignored, Ignored},
		"no class, no load balancer any more": {newClaimService("", addStockFinalizer, clusterIP), Released, Ignored, Ignored},
		"no class, the official finalizer":    {newClaimService("", addClasslessFinalizer), Served, Ignored, Ignored},
		"the same, being deleted":             {newClaimService("", addClasslessFinalizer, markDeleted), Released, Ignored, Ignored},
		"another type, never ours":            {newClaimService("", clusterIP), Ignored, Ignored, Ignored},

		"no class, served by us before our flags changed":              {newClaimService("", addStockFinalizer, withRecordedClass("")), Served, Disowned, Released},
		"no class, the official finalizer, recorded, being deleted":    {newClaimService("", addClasslessFinalizer, withRecordedClass(""), markDeleted), Released, Disowned, Released},
		"the official finalizer, then another's class":                 {newClaimService("other", addClasslessFinalizer), Ignored, Ignored, Ignored},
		"the stock finalizer, recorded, being deleted":                 {newClaimService("", addStockFinalizer, withRecordedClass(""), markDeleted), Released, Disowned, Released},
		"the same, no load balancer any more":                          {newClaimService("", addStockFinalizer, withRecordedClass(""), clusterIP), Released, Ignored, Ignored},
		"no class, then another's class":                               {newClaimService("other", addStockFinalizer, withRecordedClass("")), Released, Ignored, Ignored},
		"no class, then ours":                                          {newClaimService("berth", addStockFinalizer, withRecordedClass("")), Served, Served, Served},
		"another's class, the stock finalizer is another controller's": {newClaimService("other", addStockFinalizer), Ignored, Ignored, Ignored},
		"another's class, our finalizer, recorded: another of us":      {newClaimService("other", addOwnFinalizer, withRecordedClass("other")), Ignored, Ignored, Ignored},
		"another of us, being deleted":                                 {newClaimService("other", addOwnFinalizer, withRecordedClass("other"), markDeleted), Ignored, Ignored, Ignored},
		"another of us, no load balancer":                              {newClaimService("", addOwnFinalizer, withRecordedClass("other"), clusterIP), Ignored, Ignored, Ignored},
		"another's class, not recorded":                                {newClaimService("other", addOwnFinalizer), Ignored, Ignored, Ignored},
		"our class":                                                    {newClaimService("berth"), Served, Served, Served},
		"our class, being deleted":                                     {newClaimService("berth", addOwnFinalizer, markDeleted), Released, Released, Released},
		"our class, being deleted, claimed but never clean":            {newClaimService("berth", addOwnFinalizer, markDeleted, func(s *corev1.Service) { s.Annotations[status.AnnotationApplied] = ";class=berth" }), Released, Released, Released},
		"our class, deleted, finalizer gone":                           {newClaimService("berth", markDeleted), Ignored, Ignored, Ignored},
		"our class, then no load balancer":                             {newClaimService("", addOwnFinalizer, withRecordedClass("berth"), clusterIP), Released, Released, Released},
		"our class, then no load balancer, the record is lost":         {newClaimService("", addOwnFinalizer, clusterIP), Released, Released, Released},
		"our class, the official finalizer, being deleted":             {newClaimService("berth", addOfficialFinalizer, markDeleted), Released, Released, Released},
		"the same, recorded, then no load balancer":                    {newClaimService("", addOfficialFinalizer, withRecordedClass("berth"), clusterIP), Released, Released, Released},
		"no class, the official finalizer of a class":                  {newClaimService("", addOfficialFinalizer, markDeleted), Ignored, Ignored, Ignored},
		"another's class, its official finalizer":                      {newClaimService("other", addOfficialFinalizer, markDeleted), Ignored, Ignored, Ignored},
		"our class, then another's":                                    {newClaimService("other", addOwnFinalizer, withRecordedClass("berth")), Released, Released, Released},
		"our class, then none":                                         {newClaimService("", addOwnFinalizer, withRecordedClass("berth")), Served, Released, Released},
		"a copied manifest carries the record, never a finalizer":      {newClaimService("other", withRecordedClass("berth")), Ignored, Ignored, Ignored},
		"a record that cannot be read is none":                         {newClaimService("", addStockFinalizer, func(s *corev1.Service) { s.Annotations[status.AnnotationApplied] = "?" }), Served, Ignored, Ignored},
		"an empty class is a class to the API and none to controllers": {newClaimService("", func(s *corev1.Service) { s.Spec.LoadBalancerClass = new(string) }), Served, Ignored, Ignored},
	} {
		t.Run(name, func(t *testing.T) {
			got := []Claim{asDefault.Claim(tc.svc), beside.Claim(tc.svc), forced.Claim(tc.svc)}
			if diff := cmp.Diff([]Claim{tc.asDefault, tc.beside, tc.forced}, got); diff != "" {
				t.Errorf("as default, beside another, with release-unclaimed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinalizers(t *testing.T) {
	foreign := func(s *corev1.Service) { s.Finalizers = append(s.Finalizers, "example.com/other") }
	for name, tc := range map[string]struct {
		svc  *corev1.Service
		put  string
		take []string
	}{
		"no class":                      {newClaimService("", addStockFinalizer, foreign), StockFinalizer, []string{StockFinalizer}},
		"a class":                       {newClaimService("berth", addOwnFinalizer, foreign), OwnFinalizer, []string{OwnFinalizer}},
		"a class, the stock one beside": {newClaimService("berth", addOwnFinalizer, addStockFinalizer, withRecordedClass("berth")), OwnFinalizer, []string{OwnFinalizer}},
		"moved from none to a class":    {newClaimService("berth", addOwnFinalizer, addStockFinalizer, withRecordedClass("")), OwnFinalizer, []string{OwnFinalizer, StockFinalizer}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.put, FinalizerFor(tc.svc)); diff != "" {
				t.Errorf("put on (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.take, Classes{Default: true, Names: []string{"berth"}}.finalizers(tc.svc)); diff != "" {
				t.Errorf("taken off (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOfficialFinalizerOfAnotherClass: what holds a Service for its former class may be removed with that class, so a
// Service gets ours with the new one.
func TestOfficialFinalizerOfAnotherClass(t *testing.T) {
	c := Classes{Default: true, Names: []string{"berth"}, Official: map[string][]string{"": {"cloud/none"}, "theirs": {"cloud/finalizer"}}}
	for name, tc := range map[string]struct {
		svc  *corev1.Service
		want []string
	}{
		"no class":                      {newClaimService("", addClasslessFinalizer), nil},
		"moved from none to a class":    {newClaimService("berth", addClasslessFinalizer, withRecordedClass("")), []string{OwnFinalizer}},
		"moved from a class to another": {newClaimService("berth", addOfficialFinalizer, withRecordedClass("theirs")), []string{OwnFinalizer}},
		"moved from a class to none":    {newClaimService("", addOfficialFinalizer, withRecordedClass("theirs")), []string{StockFinalizer}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, c.Hold(tc.svc).AddFinalizers); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReleasedLeavesTheSuccessorsAddresses(t *testing.T) {
	c := Classes{Names: []string{"berth"}}
	ours := []corev1.LoadBalancerIngress{{Hostname: "lb.example"}}
	addressed := func(host string) func(*corev1.Service) {
		return func(svc *corev1.Service) {
			svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: host}}
		}
	}
	for name, tc := range map[string]struct {
		svc    *corev1.Service
		how    release
		clears bool
	}{
		"being deleted":                      {newClaimService("berth", addOwnFinalizer, markDeleted), release{}, true},
		"no load balancer":                   {newClaimService("", addOwnFinalizer, withRecordedClass("berth"), clusterIP), release{}, true},
		"another controller's now":           {newClaimService("other", addOwnFinalizer, withRecordedClass("berth"), addressed("lb.other.example")), release{written: ours}, false},
		"another's, with our address":        {newClaimService("other", addOwnFinalizer, withRecordedClass("berth"), addressed("lb.example")), release{written: ours}, true},
		"moved by an annotation":             {newClaimService("berth", addOwnFinalizer, withRecordedClass("berth"), addressed("lb.other.example")), release{written: ours, elsewhere: true}, false},
		"moved, nothing is remembered":       {newClaimService("berth", addOwnFinalizer, withRecordedClass("berth"), addressed("lb.example")), release{elsewhere: true}, false},
		"moved, the other one has not begun": {newClaimService("berth", addOwnFinalizer, withRecordedClass("berth"), addressed("lb.example")), release{written: ours, elsewhere: true}, true},
		"moved and deleted at the same time": {newClaimService("berth", addOwnFinalizer, withRecordedClass("berth"), addressed("lb.other.example"), markDeleted), release{written: ours, elsewhere: true}, true},
	} {
		want := c.releasedWant(tc.svc, providers.Outputs{}, tc.how)
		if got := want.LoadBalancer != nil; got != tc.clears {
			t.Errorf("%s: clears the addresses %v, want %v", name, got, tc.clears)
		}
		if diff := cmp.Diff([]string{OwnFinalizer}, want.DropFinalizers); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRecordRoundTrip(t *testing.T) {
	for _, class := range []string{"", "berth", "a/b;class=c"} {
		for _, by := range []string{"", "kube-system/berth"} {
			svc := newClaimService(class)
			want := NewRecord(svc, "digest", by)
			svc.Annotations[status.AnnotationApplied] = want.String()
			got, ok := RecordOf(svc)
			if diff := cmp.Diff(want, got); diff != "" || !ok || got.Class != class {
				t.Errorf("%q by %q (-want +got):\n%s", class, by, diff)
			}
		}
	}
	if got, ok := RecordOf(newClaimService("")); ok || got != (Record{}) {
		t.Errorf("a record where there is none: %+v", got)
	}
}

// TestReleasedByFlagsClears: what is released because it is not ours by our flags any
// more has no other controller yet.
func TestReleasedByFlagsClears(t *testing.T) {
	c := Classes{ReleaseUnclaimed: true}
	if want := c.releasedWant(newClaimService("", addStockFinalizer, withRecordedClass("")), providers.Outputs{}, release{}); want.LoadBalancer == nil {
		t.Error("the addresses of what is deleted stay")
	}
}

// What another installation serves is not ours to release, whatever our flags are.
func TestClaimBesideAnotherInstallation(t *testing.T) {
	by := func(installation string) *corev1.Service {
		svc := newClaimService("", addStockFinalizer)
		svc.Annotations[status.AnnotationApplied] = NewRecord(svc, "digest", installation).String()
		return svc
	}
	for name, tc := range map[string]struct {
		svc            *corev1.Service
		installation   string
		beside, forced Claim
	}{
		"served by us":                    {svc: by("system/berth"), installation: "system/berth", beside: Disowned, forced: Released},
		"served by another":               {svc: by("system/other"), installation: "system/berth", beside: Ignored, forced: Ignored},
		"served before there were names":  {svc: by(""), installation: "system/berth", beside: Disowned, forced: Released},
		"asked by who is no installation": {svc: by("system/berth"), beside: Disowned, forced: Released},
	} {
		t.Run(name, func(t *testing.T) {
			got := []Claim{
				Classes{Default: true, Installation: tc.installation}.Claim(tc.svc),
				Classes{Installation: tc.installation}.Claim(tc.svc),
				Classes{ReleaseUnclaimed: true, Installation: tc.installation}.Claim(tc.svc),
			}
			if diff := cmp.Diff([]Claim{Served, tc.beside, tc.forced}, got); diff != "" {
				t.Errorf("as default, beside, forced (-want +got):\n%s", diff)
			}
		})
	}
}
