package validate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/validate"
	"github.com/berth-lb/berth/stack/plan"
)

// perCloud is the number of random Services of each cloud, about 1,000 in all.
const perCloud = 112

// TestVerdictsAreThoseOfCheck compares the webhook with `berth check` on random Services of every
// cloud: what the one denies is an error of the other, and it warns of the same problems.
func TestVerdictsAreThoseOfCheck(t *testing.T) {
	for _, cloud := range all.List() {
		t.Run(cloud.Name, func(t *testing.T) {
			t.Parallel()
			services := randomServices(cloud)
			found := checkServices(t, cloud, services)
			admission, err := service.AdmissionOf("", nil, cloud.Annotations, cloud.Outputs)
			if err != nil {
				t.Fatal(err)
			}
			judge := validate.Judge{Cloud: cloud, Classes: service.Classes{Default: true}, Admission: admission}
			denied, warned := 0, 0
			for _, svc := range services {
				enforced, err := validate.Handler(judge, true)(newRequest(t, nil, svc))
				if err != nil {
					t.Fatal(err)
				}
				advice, err := validate.Handler(judge, false)(newRequest(t, nil, svc))
				if err != nil {
					t.Fatal(err)
				}
				var errs, codes []string
				for _, p := range found[svc.Name] {
					codes = append(codes, p.Code)
					if p.Severity == plan.Error {
						errs = append(errs, p.Code)
					}
				}
				slices.Sort(errs)
				slices.Sort(codes)
				if got := codesOf(strings.Split(enforced.Denied, "; ")); strings.Join(got, " ") != strings.Join(errs, " ") {
					t.Errorf("%v: the webhook denies %q, the check reports %v", svc.Annotations, enforced.Denied, errs)
				}
				if got := codesOf(advice.Warnings); strings.Join(got, " ") != strings.Join(codes, " ") {
					t.Errorf("%v: the webhook warns %q, the check reports %v", svc.Annotations, advice.Warnings, codes)
				}
				denied, warned = denied+min(1, len(errs)), warned+min(1, len(codes))
			}
			if denied == 0 || warned == 0 || warned == perCloud {
				t.Errorf("of %d Services %d are denied and %d have warnings", perCloud, denied, warned)
			}
		})
	}
}

// codesOf returns the codes at the beginning of texts, sorted.
func codesOf(texts []string) []string {
	var out []string
	for _, text := range texts {
		if code, _, found := strings.Cut(text, " "); found && strings.HasPrefix(code, "BRT") {
			out = append(out, code)
		}
	}
	slices.Sort(out)
	return out
}

// checkServices returns the problems that `berth check` reports, by the name of the Service.
func checkServices(t *testing.T, cloud providers.Entry, services []*corev1.Service) map[string][]offline.Finding {
	t.Helper()
	var text strings.Builder
	for _, svc := range services {
		fmt.Fprintf(&text, "---\n%s\n", encodeService(t, svc))
	}
	checked, err := offline.Check(t.Context(), offline.Input{Files: []string{"-"}, Stdin: strings.NewReader(text.String())}, offline.Checks{Cloud: cloud, Classes: service.Classes{Default: true}})
	if err != nil || len(checked.Services) != len(services) {
		t.Fatalf("%d Services were checked: %v", len(checked.Services), err)
	}
	out := map[string][]offline.Finding{}
	for _, s := range checked.Services {
		out[s.Owner.Name] = s.Problems
	}
	return out
}

// randomServices returns Services as the API server stores them, with up to three keys of a cloud
// and legal and other values.
func randomServices(cloud providers.Entry) []*corev1.Service {
	var pairs [][2]string
	for _, row := range annotations.Rows(cloud.Annotations) {
		if row.On != annotations.ServiceAnnotation || strings.ContainsAny(row.Key, "<{") {
			continue
		}
		for _, value := range append([]string{row.Example}, append(row.Values, "true", "soon", "0")...) {
			pairs = append(pairs, [2]string{row.Key, value})
		}
	}
	rng := rand.New(rand.NewPCG(11, uint64(len(cloud.Name))))
	var out []*corev1.Service
	for i := range int32(perCloud) {
		svc := &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%d", i), Annotations: map[string]string{}}}
		svc.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster, Ports: []corev1.ServicePort{{Name: "https", Port: 443, Protocol: corev1.ProtocolTCP, NodePort: 30000 + i}}}
		for range rng.IntN(4) {
			pair := pairs[rng.IntN(len(pairs))]
			svc.Annotations[pair[0]] = pair[1]
		}
		out = append(out, svc)
	}
	return out
}
