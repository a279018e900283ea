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
