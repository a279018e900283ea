package model

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/test/cases"
)

// TestEveryKeyIsDeclared: testdata/keys.txt has every key that one of the
// official controllers reads or writes, each declared by its own name; only those
// of our own domain come besides.
func TestEveryKeyIsDeclared(t *testing.T) {
	cases.Declared(t, slices.DeleteFunc(cases.KeysOf(Annotations()), cases.Ours))
}

func TestDeclarations(t *testing.T) {
	set, err := declareAnnotations()
	if err != nil {
		t.Fatal(err)
	}
	cases.Described(t, set, InternalIG, InternalNEG, NetLB, TargetPool)
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, kind string
		values     map[string]string
		want       []string
	}{
		{"plain words", TargetPool, map[string]string{"networking.gke.io/load-balancer-type": "External", "cloud.google.com/l4-rbs": "false"}, nil},
		{"internal in capitals means external", TargetPool, map[string]string{"networking.gke.io/load-balancer-type": "INTERNAL"},
			[]string{`warning: networking.gke.io/load-balancer-type: "INTERNAL" is not "Internal", "internal", "External", "external" or "", so it counts as "false"`}},
		{"the old key of the type", InternalIG, map[string]string{"cloud.google.com/load-balancer-type": "Internal"},
			[]string{"warning: cloud.google.com/load-balancer-type: is deprecated, use networking.gke.io/load-balancer-type"}},
		{"both keys of the type", TargetPool, map[string]string{"cloud.google.com/load-balancer-type": "Internal", "networking.gke.io/load-balancer-type": ""},
			[]string{"warning: cloud.google.com/load-balancer-type: is ignored, because networking.gke.io/load-balancer-type is set too"}},
		{"opting in by true does not", TargetPool, map[string]string{"cloud.google.com/l4-rbs": "true"},
			[]string{`warning: cloud.google.com/l4-rbs: "true" is not "enabled", "" or "false", so it counts as "false"; legal is "enabled", or leave the key out`}},
		{"a tier in lower case", NetLB, map[string]string{"cloud.google.com/network-tier": "standard"},
			[]string{`error: cloud.google.com/network-tier: "standard" is not "Standard", case matters; legal is "Premium" or "Standard"`}},
		{"a tier inside", InternalIG, map[string]string{"cloud.google.com/network-tier": "Standard"},
			[]string{`warning: cloud.google.com/network-tier: has no effect on ilb-ig, only on netlb-rbs and target-pool`}},
		{"a misspelt key", InternalIG, map[string]string{"networking.gke.io/internal-load-balancer-subnets": "a"},
			[]string{`warning: networking.gke.io/internal-load-balancer-subnets: is not known, so it has no effect; did you mean networking.gke.io/internal-load-balancer-subnet?`}},
		{"prefix and subnet", NetLB, map[string]string{"networking.gke.io/ip-collection-v6": "p", "networking.gke.io/load-balancer-subnet": "s"},
			[]string{`error: networking.gke.io/ip-collection-v6: "p" cannot go together with networking.gke.io/load-balancer-subnet; legal is one of the two`}},
		{"a rate above one", NetLB, map[string]string{"berth-lb.io/gce-log-sample-rate": "50"},
			[]string{`error: berth-lb.io/gce-log-sample-rate: "50" is not a number from 0 to 1`}},
		{"outputs are quiet", NetLB, map[string]string{"service.kubernetes.io/backend-service": "x", "cloud.google.com/neg-status": "{}", "cloud.google.com/backend-config": "{}"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := Annotations().Parse(tt.kind, annotations.Source{Annotations: tt.values})
			var got []string
			for _, p := range problems {
				got = append(got, p.Severity.String()+": "+p.String())
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	class := func(c string) *string { return &c }
	internalType := map[string]string{"networking.gke.io/load-balancer-type": "Internal"}
	rbs := map[string]string{"cloud.google.com/l4-rbs": "enabled"}
	tests := []struct {
		name        string
		annotations map[string]string
		finalizers  []string
		class       *string
		want        string
	}{
		{"nothing said", nil, nil, nil, TargetPool},
		{"internal", internalType, nil, nil, InternalIG},
		{"the old key", map[string]string{"cloud.google.com/load-balancer-type": "internal"}, nil, nil, InternalIG},
		{"the new key hides the old", map[string]string{"cloud.google.com/load-balancer-type": "Internal", "networking.gke.io/load-balancer-type": ""}, nil, nil, TargetPool},
		{"internal and subsetting", internalType, []string{finalizerInternalNEG}, nil, InternalNEG},
		{"internal, older finalizer wins", internalType, []string{finalizerInternalIG, finalizerInternalNEG}, nil, InternalIG},
		{"opted in", rbs, nil, nil, NetLB},
		{"opted in, older finalizer wins", rbs, []string{finalizerPool}, nil, TargetPool},
		{"finalizer of instance groups", nil, []string{finalizerNetLBIG}, nil, NetLB},
		{"finalizer of endpoint groups", nil, []string{finalizerNetLBNEG}, nil, NetLB},
		{"from external to internal", internalType, []string{finalizerPool}, nil, InternalIG},
		{"class external", nil, nil, class(classExternal), NetLB},
		{"class external beats the annotation", internalType, nil, class(classExternal), NetLB},
		{"class internal", nil, nil, class(classInternal), InternalNEG},
		{"class external legacy", rbs, nil, class(classExternalLegacy), TargetPool},
		{"class internal legacy", nil, nil, class(classInternalLegacy), InternalIG},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: tt.annotations, Finalizers: tt.finalizers}}
			svc.Spec.LoadBalancerClass = tt.class
			if got := chooseKind(svc).Kind; got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
