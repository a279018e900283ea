package all_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
)

// limitedTo returns a value of a key that limits the clients.
func limitedTo(cloud providers.Entry, r annotations.Row) string {
	given := map[string]string{"oci.oraclecloud.com/oci-load-balancer-rule-sets": `{"office": {"items": [{"action": "ALLOW"}]}}`}[r.Key]
	values := append([]string{given, r.Example}, r.Values...)
	i := slices.IndexFunc(values, func(v string) bool { return v != "" && cloud.Annotations.Limits(r.Key, v) })
	if i < 0 {
		return ""
	}
	return values[i]
}

// limitingKeys lists the annotations of a cloud that limit the clients, with a value that does.
func limitingKeys(t *testing.T, cloud providers.Entry) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, r := range annotations.Rows(cloud.Annotations) {
		if !r.Limits {
			continue
		}
		if out[r.Key] = limitedTo(cloud, r); out[r.Key] == "" {
			t.Errorf("%s: %s: no value limits the clients", cloud.Name, r.Key)
		}
	}
	if len(out) == 0 {
		t.Errorf("%s: no key limits the clients", cloud.Name)
	}
	return out
}

// judgeKind returns the problems of a new Service of a kind with one annotation.
func judgeKind(cloud providers.Entry, kind, key, value string) annotations.Problems {
	svc := serviceWith(map[string]string{key: value})
	bag, problems := cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
	return problems.Outweigh(cloud.Exposed(providers.Request{Service: svc, Kind: kind, Values: bag}))
}

// TestLimitsOfOtherKinds verifies that a Service with a limit of the clients that its kind does not
// read is refused, and that the message names the key, the value, the kind and what is legal.
func TestLimitsOfOtherKinds(t *testing.T) {
	tried := 0
	for _, cloud := range all.List() {
		for key, value := range limitingKeys(t, cloud) {
			for _, kind := range cloud.Kinds {
				if cloud.Annotations.Works(key, kind) {
					continue
				}
				tried++
				err := judgeKind(cloud, kind, key, value).Err()
				if err == nil {
					t.Errorf("%s/%s: %s: %q is not refused", cloud.Name, kind, key, value)
					continue
				}
				for _, part := range []string{key, value[:1], kind, "legal is "} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%s/%s: %s: the message does not contain %q: %v", cloud.Name, kind, key, part, err)
					}
				}
			}
		}
	}
	if tried < 8 {
		t.Errorf("%d keys of another kind were tried", tried)
	}
}

// TestLimitsOfOtherClouds verifies that a Service whose clients are limited only in the words of
// another cloud is refused, and that one with a limit of this cloud is served.
func TestLimitsOfOtherClouds(t *testing.T) {
	for _, cloud := range all.List() {
		for _, other := range all.List() {
			for key, value := range limitingKeys(t, other) {
				if cloud.Annotations.Knows(key) {
					continue
				}
				err := judgeKind(cloud, cloud.Kinds[0], key, value).Err()
				if err == nil {
					t.Errorf("%s: %s: %q of %s is not refused", cloud.Name, key, value, other.Name)
					continue
				}
				for _, part := range []string{key, "on " + other.Name, "on " + cloud.Name, "legal is "} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%s: %s: the message does not contain %q: %v", cloud.Name, key, part, err)
					}
				}
				limited := annotations.Source{Annotations: map[string]string{key: value}, Fields: map[string]string{annotations.FieldRanges: "10.0.0.0/8"}}
				if _, problems := cloud.Annotations.Parse(cloud.Kinds[0], limited); problems.Errors() {
					t.Errorf("%s: %s beside source ranges is refused: %v", cloud.Name, key, problems.Strings())
				}
			}
		}
	}
}

// TestLimitsLackingNeeds verifies that a limit of the clients is refused where it lacks what it needs.
func TestLimitsLackingNeeds(t *testing.T) {
	const aws, azure = "service.beta.kubernetes.io/aws-load-balancer-", "service.beta.kubernetes.io/azure-"
	for cloud, given := range map[string]map[string]string{
		"azure": {azure + "deny-all-except-load-balancer-source-ranges": "true"},
		"aws":   {aws + "type": "external", aws + "nlb-target-type": "ip", aws + "security-groups": "sg-0a1b2c", aws + "disable-nlb-sg": "true"},
	} {
		told := problemsOf(t, cloud, given)
		if i := slices.IndexFunc(told, func(p annotations.Problem) bool { return p.Code == annotations.CodeUnlimited }); i < 0 || !strings.Contains(told[i].String(), "has no effect without") {
			t.Errorf("%s: %v", cloud, told.Strings())
		}
	}
}

// TestSlipsOfLimits verifies that a single slip in a key that limits the clients, or in its place,
// and a value that would be ignored, are refused for every kind.
func TestSlipsOfLimits(t *testing.T) {
	for _, cloud := range all.List() {
		for key, value := range limitingKeys(t, cloud) {
			for _, kind := range cloud.Kinds {
				for _, slip := range keyEdits(key) {
					if !cloud.Annotations.Knows(slip) && !cloud.Annotations.ReadElsewhere(slip) && !judgeKind(cloud, kind, slip, value).Errors() {
						t.Errorf("%s/%s: %s: %q is not refused", cloud.Name, kind, slip, value)
					}
				}
				for _, slip := range valueEdits(value) {
					for _, p := range judgeKind(cloud, kind, key, slip).Warnings() {
						if p.Code == annotations.CodeDefaulted && cloud.Annotations.Limits(key, slip) {
							t.Errorf("%s/%s: %s: %q is ignored: %s", cloud.Name, kind, key, slip, p)
						}
					}
				}
				_, problems := cloud.Annotations.Parse(kind, annotations.Source{Labels: map[string]string{key: value}})
				if !problems.Errors() {
					t.Errorf("%s/%s: the label %s: %q is not refused", cloud.Name, kind, key, value)
				}
			}
		}
	}
}

// TestEveryCloudReadsRanges verifies that the annotation with the source ranges is declared on every
// cloud.
func TestEveryCloudReadsRanges(t *testing.T) {
	for _, cloud := range all.List() {
		if _, limits := limitingKeys(t, cloud)["service.beta.kubernetes.io/load-balancer-source-ranges"]; !limits {
			t.Errorf("%s: the source ranges are not declared", cloud.Name)
		}
	}
}
