package all_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
)

// problemsOf returns the problems of a Service as the controller and the command line
// find them.
func problemsOf(t *testing.T, cloud string, given map[string]string) annotations.Problems {
	t.Helper()
	entry, err := all.Find(cloud)
	if err != nil {
		t.Fatal(err)
	}
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: given},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}}}
	kind := entry.Choose(svc).Kind
	bag, problems := entry.Annotations.Parse(kind, annotations.SourceOf(svc))
	return problems.Outweigh(entry.Exposed(providers.Request{Service: svc, Kind: kind, Values: bag}))
}

const (
	awsInternal   = "service.beta.kubernetes.io/aws-load-balancer-internal"
	azureInternal = "service.beta.kubernetes.io/azure-load-balancer-internal"
	gceInternal   = "networking.gke.io/load-balancer-type"
	ociInternal   = "service.beta.kubernetes.io/oci-load-balancer-internal"
)

// TestKeysOfOthers: no key that looks as if it were for a load balancer is passed
// over in silence, and none that asks for an internal one ends in a public one.
func TestKeysOfOthers(t *testing.T) {
	exposed, unlimited, other, unknown := annotations.CodeExposed, annotations.CodeUnlimited, annotations.CodeOtherCloud, annotations.CodeUnknown
	for name, tc := range map[string]struct {
		cloud string
		keys  map[string]string
		want  map[string]annotations.Code
		text  string
	}{
		"azure's internal on aws":       {"aws", map[string]string{azureInternal: "true"}, map[string]annotations.Code{azureInternal: exposed}, awsInternal + `: "true"`},
		"aws's internal on gce":         {"gce", map[string]string{awsInternal: "true"}, map[string]annotations.Code{awsInternal: exposed}, gceInternal + `: "Internal"`},
		"gce's internal on azure":       {"azure", map[string]string{gceInternal: "Internal"}, map[string]annotations.Code{gceInternal: exposed}, azureInternal},
		"oracle's internal on gce":      {"gce", map[string]string{ociInternal: "true"}, map[string]annotations.Code{ociInternal: exposed}, gceInternal},
		"ingress scheme":                {"aws", map[string]string{"alb.ingress.kubernetes.io/scheme": "internal"}, map[string]annotations.Code{"alb.ingress.kubernetes.io/scheme": exposed}, awsInternal},
		"scheme of the other aws one":   {"aws", map[string]string{"service.beta.kubernetes.io/aws-load-balancer-scheme": "internal"}, nil, ""}, // it counts
		"internal here as well":         {"aws", map[string]string{azureInternal: "true", awsInternal: "true"}, map[string]annotations.Code{azureInternal: other}, "has no effect on aws"},
		"azure's internal says no":      {"aws", map[string]string{azureInternal: "false"}, map[string]annotations.Code{azureInternal: other}, "is a key of azure"},
		"oracle's shape on azure":       {"azure", map[string]string{"service.beta.kubernetes.io/oci-load-balancer-shape": "flexible"}, map[string]annotations.Code{"service.beta.kubernetes.io/oci-load-balancer-shape": other}, "is a key of oci"},
		"misspelt key of another":       {"gce", map[string]string{"service.beta.kubernetes.io/azure-load-balancer-interal": "true"}, map[string]annotations.Code{"service.beta.kubernetes.io/azure-load-balancer-interal": other}, "azure"},
		"prefix misspelt":               {"aws", map[string]string{"service.beta.kubernetes.io/aws-loadbalancer-internal": "true"}, map[string]annotations.Code{"service.beta.kubernetes.io/aws-loadbalancer-internal": exposed}, "looks like " + awsInternal},
		"cloud left out":                {"aws", map[string]string{"service.beta.kubernetes.io/load-balancer-internal": "true"}, map[string]annotations.Code{"service.beta.kubernetes.io/load-balancer-internal": exposed}, "looks like " + awsInternal},
		"misspelt and says no":          {"aws", map[string]string{"service.beta.kubernetes.io/aws-load-balancer-interal": "false"}, map[string]annotations.Code{"service.beta.kubernetes.io/aws-load-balancer-interal": unknown}, "did you mean " + awsInternal},
		"misspelt beside the right one": {"aws", map[string]string{"service.beta.kubernetes.io/aws-load-balancer-interal": "true", awsInternal: "true"}, map[string]annotations.Code{"service.beta.kubernetes.io/aws-load-balancer-interal": unknown}, "did you mean " + awsInternal},
		"google's misspelt":             {"gce", map[string]string{"networking.gke.io/load-balancer-typ": "Internal"}, map[string]annotations.Code{"networking.gke.io/load-balancer-typ": exposed}, gceInternal},
		"source range without its s":    {"gce", map[string]string{"service.beta.kubernetes.io/load-balancer-source-range": "10.0.0.0/8"}, map[string]annotations.Code{"service.beta.kubernetes.io/load-balancer-source-range": unlimited}, "load-balancer-source-ranges"},
		"a key of ours that is none":    {"azure", map[string]string{"berth-lb.io/internal": "true"}, map[string]annotations.Code{"berth-lb.io/internal": unknown}, ""},
		"our record":                    {"azure", map[string]string{"berth-lb.io/applied": "x;class="}, nil, ""},
		"keys of other programs":        {"aws", map[string]string{"prometheus.io/scrape": "true", "kubectl.kubernetes.io/last-applied-configuration": "{}", "service.kubernetes.io/topology-mode": "Auto"}, nil, ""},
		"ranges, which all have":        {"azure", map[string]string{"service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.0/8"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := problemsOf(t, tc.cloud, tc.keys)
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %d", got.Strings(), len(tc.want))
			}
			for _, p := range got {
				if tc.want[p.Key] != annotations.CodeOf(p) || !strings.Contains(p.String(), tc.text) {
					t.Errorf("got %s %s, want %s and %q", annotations.CodeOf(p), p, tc.want[p.Key], tc.text)
				}
				if code := annotations.CodeOf(p); (code == exposed || code == unlimited) != (p.Severity == annotations.Error) {
					t.Errorf("%s has severity %s", p, p.Severity)
				}
			}
		})
	}
}

// TestCodes: a code means one thing, and every one is documented.
func TestCodes(t *testing.T) {
	var seen []annotations.Code
	for _, c := range annotations.Codes() {
		if slices.Contains(seen, c.Code) || c.Title == "" || c.Doc == "" || c.Fix == "" {
			t.Errorf("%s is there twice, or without words", c.Code)
		}
		seen = append(seen, c.Code)
	}
	if !slices.IsSorted(seen) {
		t.Errorf("codes are out of order: %v", seen)
	}
}
