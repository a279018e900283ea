package conditions

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
)

// TestKeyOfRefusedValue: a refusal in the cloud's words names the annotation or field that has the
// value, so that the user knows what to change. A plain word that is in the text by chance does not.
func TestKeyOfRefusedValue(t *testing.T) {
	key := func(name string, names annotations.Names) *annotations.Key[string] {
		return &annotations.Key[string]{Name: "x/" + name, Names: names, Group: "g", Doc: "Does it.", Example: "a", Forms: []annotations.Form[string]{{Type: annotations.String(), Source: "s", Empty: annotations.EmptyAbsent}}}
	}
	set, err := annotations.NewSet("x", []string{"x/"}, key("subnet", annotations.NamesThe(annotations.ThingSubnet)), key("scheme", annotations.NamesNothing()), key("attributes", annotations.NamesNothing()))
	if err != nil {
		t.Fatal(err)
	}
	svc := &corev1.Service{}
	svc.Spec.LoadBalancerIP = "192.0.2.7"
	svc.Annotations = map[string]string{"x/subnet": "apps", "x/scheme": "internal", "x/attributes": "deletion_protection=true"}
	bag, problems := set.Parse("", annotations.SourceOf(svc))
	if problems.Errors() {
		t.Fatal(problems.Strings())
	}
	for name, tc := range map[string]struct {
		meaning    fault.Meaning
		text, want string
	}{
		"a named thing":             {fault.Invalid, "Subnet 'apps' not found", "not found; change x/subnet, or"},
		"a part of a word":          {fault.Invalid, "Subnet myapps not found", "not found; change the Service, or"},
		"a plain word":              {fault.Invalid, "internal value", "change the Service, or"},
		"an item of a map":          {fault.Invalid, "attribute deletion_protection is unknown.", "unknown; change x/attributes, or"},
		"a field":                   {fault.Conflict, "192.0.2.7 is used", "used; the value is from spec.loadBalancerIP: change it, or the cloud resource that it names; the controller retries"},
		"a key that is in the text": {fault.Conflict, "x/subnet: apps is used", "x/subnet: apps is used; the controller reads the resource again and retries"},
	} {
		t.Run(name, func(t *testing.T) {
			result := resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Request: providers.Request{Service: svc, Values: bag}}}, failWith(fault.Quota))
			result.Err = fault.New(tc.meaning, "%s", tc.text)
			if got := Programmed(result).Message; !strings.Contains(got, tc.want) {
				t.Errorf("%q does not contain %q", got, tc.want)
			}
		})
	}
}
