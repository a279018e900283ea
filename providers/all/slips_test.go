package all_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
)

// textEdits are the single slips of a text: each letter dropped, doubled, and swapped with the
// next one.
func textEdits(text string) []string {
	var out []string
	for i := range text {
		out = append(out, text[:i]+text[i+1:], text[:i]+text[i:i+1]+text[i:])
		if i > 0 {
			out = append(out, text[:i-1]+text[i:i+1]+text[i-1:i]+text[i+1:])
		}
	}
	return out
}

// keyEdits are the single slips of a key that the API server takes: of letters, words,
// separators, case and the domain.
func keyEdits(key string) []string {
	domain, name, _ := strings.Cut(key, "/")
	out := append(textEdits(key), name, strings.ToUpper(name), domain+"/"+strings.ToUpper(name), domain+"/"+strings.ToLower(name), strings.ToUpper(key))
	for _, wrong := range []string{"service.beta.kubernetes.io", "service.kubernetes.io", "networking.gke.io", "cloud.google.com", "loadbalancer.openstack.org", "oci.oraclecloud.com", "berth-lb.io"} {
		out = append(out, wrong+"/"+name)
	}
	for before, after := range map[string]string{"load-balancer": "loadbalancer", "loadbalancer": "load-balancer", "balancer": "ballancer", "-": "_", "_": "-", "lb": "load-balancer"} {
		out = append(out, domain+"/"+strings.ReplaceAll(name, before, after))
	}
	out = append(out, domain+"/"+strings.ReplaceAll(name, "load-balancer", "lb"))
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(out))), func(k string) bool {
		return k == key || len(validation.IsQualifiedName(strings.ToLower(k))) > 0
	})
}

// valueEdits are the single slips of a value: of letters, case and blanks.
func valueEdits(value string) []string {
	out := append(textEdits(value), " "+value, value+" ", value+"\n", "\t"+value, strings.ToUpper(value), strings.ToLower(value), strings.ToUpper(value[:1])+value[1:])
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(out))), func(v string) bool { return v == value || v == "" })
}

// userKeys are the keys that users write on Services, with a port number for its mark, and an
// example of each; if deciding, only of keys that decide whether the internet is
// admitted.
func userKeys(set *annotations.Set, deciding bool) map[string]string {
	out := map[string]string{}
	for _, r := range annotations.Rows(set) {
		if r.On != annotations.ServiceAnnotation || r.Writer == annotations.ByController || deciding && r.Exposes != annotations.ToInternet {
			continue
		}
		key := strings.NewReplacer("<PORT>", "80", "{port}", "80", "<PROTOCOL>", "TCP").Replace(r.Key)
		out[key] = r.Example
	}
	return out
}

// servicesFor lists for each kind of a cloud a Service that asks for it.
func servicesFor(cloud string) []*corev1.Service {
	plain := serviceWith(nil)
	switch cloud {
	case "alibaba":
		const prefix = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
		network := serviceWith(map[string]string{prefix + "zone-maps": "cn-hangzhou-k:vsw-1,cn-hangzhou-j:vsw-2"})
		class := "alibabacloud.com/nlb"
		network.Spec.LoadBalancerClass = &class
		return []*corev1.Service{plain, network, withKey(withKey(network, prefix+"address-type", "intranet"), prefix+"ip-version", "DualStack")}
	case "aws":
		return []*corev1.Service{plain, serviceWith(map[string]string{"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"}),
			serviceWith(map[string]string{"service.beta.kubernetes.io/aws-load-balancer-type": "external", "service.beta.kubernetes.io/aws-load-balancer-scheme": ""})}
	case "oci":
		return []*corev1.Service{plain, serviceWith(map[string]string{"oci.oraclecloud.com/load-balancer-type": "nlb"})}
	case "gce":
		return []*corev1.Service{plain, serviceWith(map[string]string{"cloud.google.com/l4-rbs": "enabled"})}
	}
	return []*corev1.Service{plain}
}

// judgeNew returns whether the internet would reach a new Service, and its problems.
func judgeNew(cloud providers.Entry, svc *corev1.Service) (open bool, problems annotations.Problems) {
	kind := cloud.Choose(svc).Kind
	bag, problems := cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
	request := providers.Request{Service: svc, Kind: kind, Values: bag}
	problems = problems.Outweigh(cloud.Exposed(request))
	return cloud.Reach(request).Internet && !problems.Errors(), problems
}

// serviceWith returns a Service with annotations and one port.
func serviceWith(given map[string]string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: given},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}}}
}

// withKey returns the Service with one more annotation.
func withKey(svc *corev1.Service, key, value string) *corev1.Service {
	out := svc.DeepCopy()
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	out.Annotations[key] = value
	return out
}

// insideValues returns the values of a key that may ask for an internal load balancer.
func insideValues(cloud providers.Entry, key, example string) []string {
	row, _ := cloud.Annotations.Row(key)
	if row.Limits {
		return row.Values
	}
	return []string{example}
}

// TestSlipsOfInternal verifies that no single slip in a key, or its value, that asks for an
// internal load balancer opens a new one to the internet.
func TestSlipsOfInternal(t *testing.T) {
	for _, cloud := range all.List() {
		keys := userKeys(cloud.Annotations, true)
		if len(keys) == 0 {
			t.Errorf("%s: no key decides whether the internet is admitted", cloud.Name)
		}
		for key, example := range keys {
			tried := 0
			for _, svc := range servicesFor(cloud.Name) {
				for _, value := range insideValues(cloud, key, example) {
					tried += trySlips(t, cloud, svc, key, value)
				}
			}
			if tried == 0 {
				t.Errorf("%s: %s: a Service with %q was internal in no kind", cloud.Name, key, example)
			}
		}
	}
}

// trySlips tries the slips of one key and its value on a Service. It returns 0 if the kind does not
// read the key, or another key decides.
func trySlips(t *testing.T, cloud providers.Entry, svc *corev1.Service, key, value string) int {
	t.Helper()
	asked := withKey(svc, key, value)
	if open, _ := judgeNew(cloud, asked); open || !cloud.Annotations.Works(key, cloud.Choose(asked).Kind) {
		return 0
	}
	for _, slip := range keyEdits(key) {
		if open, problems := judgeNew(cloud, withKey(svc, slip, value)); open {
			t.Errorf("%s %v: %s: %q is open; %q", cloud.Name, svc.Annotations, slip, value, problems.Strings())
		}
	}
	for _, slip := range valueEdits(value) {
		if open, problems := judgeNew(cloud, withKey(svc, key, slip)); open {
			t.Errorf("%s %v: %s: %q is open; %q", cloud.Name, svc.Annotations, key, slip, problems.Strings())
		}
	}
	return 1
}

// TestInternalOfOtherKinds verifies that a key which asks for an internal load balancer of one kind,
// also with a slip in it, opens no new load balancer of another kind to the internet.
func TestInternalOfOtherKinds(t *testing.T) {
	tried := 0
	for _, cloud := range all.List() {
		for key, value := range userKeys(cloud.Annotations, true) {
			if cloud.Annotations.Limits(key, "intranet") {
				value = "intranet"
			}
			for _, svc := range servicesFor(cloud.Name) {
				if cloud.Annotations.Works(key, cloud.Choose(withKey(svc, key, value)).Kind) {
					continue
				}
				tried++
				for _, slip := range append(keyEdits(key), key) {
					if open, problems := judgeNew(cloud, withKey(svc, slip, value)); open {
						t.Errorf("%s %v: %s: %q is open; %q", cloud.Name, svc.Annotations, slip, value, problems.Strings())
					}
				}
			}
		}
	}
	if tried < 3 {
		t.Errorf("%d keys of another kind were tried", tried)
	}
}

// TestInternalAsLabel verifies that a request for an internal load balancer among the labels opens no
// new one to the internet.
func TestInternalAsLabel(t *testing.T) {
	tried := 0
	for _, cloud := range all.List() {
		for key, value := range userKeys(cloud.Annotations, true) {
			svc := serviceWith(nil)
			if open, _ := judgeNew(cloud, withKey(svc, key, value)); open || len(validation.IsValidLabelValue(value)) > 0 {
				continue
			}
			tried++
			svc.Labels = map[string]string{key: value}
			if open, problems := judgeNew(cloud, svc); open {
				t.Errorf("%s: the label %s: %q is open; %q", cloud.Name, key, value, problems.Strings())
			}
		}
	}
	if tried < 9 {
		t.Errorf("%d labels were tried", tried)
	}
}

// TestSlipsAreReported verifies that every single slip in a key that users write is reported.
func TestSlipsAreReported(t *testing.T) {
	for _, cloud := range all.List() {
		silent, tried := []string{}, 0
		for key, value := range userKeys(cloud.Annotations, false) {
			for _, slip := range keyEdits(key) {
				if cloud.Annotations.Knows(slip) {
					continue
				}
				tried++
				_, problems := cloud.Annotations.Parse("", annotations.Source{Annotations: map[string]string{slip: value}})
				if !slices.ContainsFunc(problems, func(p annotations.Problem) bool { return p.Key == slip }) {
					silent = append(silent, slip)
				}
			}
		}
		if len(silent) > 0 || tried < 1000 {
			t.Errorf("%s: %d of %d slips are silent:\n%s", cloud.Name, len(silent), tried, strings.Join(silent, "\n"))
		}
	}
}

// TestPublishedIsNotDoubted: a value that is not legal is refused unless the internet reaches
// the load balancer already, so that an adopted one stays as it is.
func TestPublishedIsNotDoubted(t *testing.T) {
	cloud, err := all.Find("openstack")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		ingress []corev1.LoadBalancerIngress
		refused bool
	}{
		"new":              {nil, true},
		"an internal one":  {[]corev1.LoadBalancerIngress{{IP: "10.0.0.7"}}, true},
		"by its host name": {[]corev1.LoadBalancerIngress{{Hostname: "lb.example.com"}}, true},
		"a public one":     {[]corev1.LoadBalancerIngress{{IP: "203.0.113.7"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: map[string]string{"service.beta.kubernetes.io/openstack-internal-load-balancer": "yes"}},
				Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}}}
			svc.Status.LoadBalancer.Ingress = tc.ingress
			kind := cloud.Choose(svc).Kind
			bag, problems := cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
			problems = problems.Outweigh(cloud.Exposed(providers.Request{Service: svc, Kind: kind, Values: bag}))
			if problems.Errors() != tc.refused || len(problems) != 1 {
				t.Errorf("refused: %v, want %v: %q", problems.Errors(), tc.refused, problems.Strings())
			}
		})
	}
}
