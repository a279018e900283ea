package all_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
)

// userRows lists the annotations of Services that users write, of a cloud.
func userRows(cloud providers.Entry) []annotations.Row {
	return slices.DeleteFunc(annotations.Rows(cloud.Annotations), func(r annotations.Row) bool {
		return r.On != annotations.ServiceAnnotation || r.Writer == annotations.ByController || r.Support == annotations.Later
	})
}

// formsOf lists the facts of a key, one for each form.
func formsOf(r annotations.Row) []annotations.Facts {
	if len(r.Variants) > 0 {
		return r.Variants
	}
	return []annotations.Facts{r.Facts}
}

// TestDeclarationsSayEverything: no key that users write is silent about what it names, its legal
// values, and the configuration that is its default. NewSet refuses keys that are silent about an
// empty value in place of such a default.
func TestDeclarationsSayEverything(t *testing.T) {
	for _, cloud := range all.List() {
		tried := 0
		for _, r := range userRows(cloud) {
			tried++
			says := func(silent bool, aspect string) {
				if silent {
					t.Errorf("%s: %s is silent about %s", cloud.Name, r.Key, aspect)
				}
			}
			says(len(r.Names) == 0, "what it names")
			for _, f := range formsOf(r) {
				works := f.Support == annotations.Works && f.Type != "must be absent"
				says(works && f.Legal == "", "its legal values")
				setting, _, configured := strings.Cut(f.Default, " of the configuration")
				says(configured && len(f.Or) == 0 && !strings.Contains(setting, " "), "the key of the configuration")
			}
		}
		if tried < 15 {
			t.Errorf("%s: %d keys were tried", cloud.Name, tried)
		}
	}
}

// TestWritersAreDeclared: a key that the controller writes is declared so.
func TestWritersAreDeclared(t *testing.T) {
	for _, cloud := range all.List() {
		rows := annotations.Rows(cloud.Annotations)
		for _, key := range cloud.Outputs.Annotations {
			i := slices.IndexFunc(rows, func(r annotations.Row) bool { return r.Key == key && r.On == annotations.ServiceAnnotation })
			if i < 0 {
				continue // no user may write it, so it has no declaration
			}
			if rows[i].Writer == annotations.ByUser {
				t.Errorf("%s: %s is written by the controller, and is declared as the user's alone", cloud.Name, key)
			}
		}
	}
}

// TestExposingKeysAreDeclared: a key decides whether the internet reaches the load balancer only
// if its declaration says so, or if it chooses another kind of load balancer.
func TestExposingKeysAreDeclared(t *testing.T) {
	reaches := func(cloud providers.Entry, svc *corev1.Service) (kind string, open, valid bool) {
		kind = cloud.Choose(svc).Kind
		bag, problems := cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
		return kind, cloud.Reach(providers.Request{Service: svc, Kind: kind, Values: bag}).Internet, !problems.Errors()
	}
	for _, cloud := range all.List() {
		tried := 0
		for _, r := range userRows(cloud) {
			key := strings.NewReplacer("<PORT>", "80", "{port}", "80", "<PROTOCOL>", "TCP").Replace(r.Key)
			for _, given := range servicesFor(cloud.Name) {
				kind, open, _ := reaches(cloud, given)
				for _, value := range append(slices.Clone(r.Values), r.Example) {
					other, opens, valid := reaches(cloud, withKey(given, key, value))
					if _, set := given.Annotations[key]; set || !valid || kind != other {
						continue
					}
					if tried++; opens != open && r.Exposes != annotations.ToInternet {
						t.Errorf("%s %v: %s: %q makes the internet reach it: %t; the declaration does not say so", cloud.Name, given.Annotations, r.Key, value, opens)
					}
				}
			}
		}
		if tried < 20 {
			t.Errorf("%s: %d values were tried", cloud.Name, tried)
		}
	}
}
