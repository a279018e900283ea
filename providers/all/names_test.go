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
	"github.com/berth-lb/berth/service/policy"
)

// valuesNaming lists values of a key that name something.
func valuesNaming(row annotations.Row) []string {
	var out []string
	for _, names := range row.Names {
		entry, _, inside := strings.Cut(names, ": ")
		switch {
		case names == "nothing":
		case inside:
			out = append(out, entry+"=something")
		case strings.Contains(row.Example, "serviceName"): // of the namespace
			out = append(out, `{"type":"forward","forwardConfig":{"targetGroups":[{"targetGroupARN":"arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/blue/0a1b2c3d4e5f"}]}}`)
		case strings.HasPrefix(row.Example, "auto_assigned"): // by the cloud
			out = append(out, "2001:db8::/80")
		default:
			out = append(out, row.Example)
		}
	}
	return out
}

// TestPolicyOfNoNames verifies that a policy that lets nothing be named refuses every key that
// names something, for every kind of load balancer that reads the key, and no other key.
func TestPolicyOfNoNames(t *testing.T) {
	for _, cloud := range all.List() {
		judge, err := policy.Parse([]byte("rules: [{name: tenants, namespaces: ['*'], names: {'*': []}}]"), cloud.Annotations)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range annotations.Rows(cloud.Annotations) {
			if row.On != annotations.ServiceAnnotation || row.Writer == annotations.ByController {
				continue
			}
			key := strings.NewReplacer("<PORT>", "80", "{port}", "80", "<PROTOCOL>", "TCP").Replace(row.Key)
			values := valuesNaming(row)
			for _, kind := range row.Kinds {
				for _, value := range append(slices.Clone(values), exampleOfNothing(row)...) {
					svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", Annotations: map[string]string{key: value}},
						Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}}}
					bag, problems := cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
					if problems.Errors() {
						continue
					}
					reach := cloud.Reach(providers.Request{Service: svc, Kind: kind, Values: bag})
					refused := slices.ContainsFunc(judge.Judge(svc, reach, nil), func(p annotations.Problem) bool {
						return p.Key == key && p.Severity == annotations.Error && annotations.CodeOf(p) == annotations.CodePolicy
					})
					if refused != slices.Contains(values, value) {
						t.Errorf("%s %s: %s: %q names %q: refused %t", cloud.Name, kind, key, value, row.Names, refused)
					}
				}
			}
		}
	}
}

// exampleOfNothing is the example of a key that names nothing.
func exampleOfNothing(row annotations.Row) []string {
	if slices.Contains(row.Names, "nothing") {
		return []string{row.Example}
	}
	return nil
}
