package annotations_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// TestNeeds: a key without what it needs is reported with its code, by an annotation, a
// field, the configuration and a port that would do.
func TestNeeds(t *testing.T) {
	form := annotations.Form[string]{Type: annotations.String()}
	key := func(name string, needs ...annotations.Need) *annotations.Key[string] {
		f := form
		f.Needs = needs
		return &annotations.Key[string]{Name: "x.io/" + name, Doc: "Does something.", Forms: []annotations.Form[string]{f}}
	}
	mode := key("mode")
	needing := key("needing",
		annotations.Need{mode.Is("on", "auto"), annotations.Both(annotations.Setting("mode", "on"), annotations.Neither("no x.io/mode", mode.IsSet()))},
		annotations.Need{annotations.FieldIs(annotations.FieldTrafficPolicy, "Local")})
	set, err := annotations.NewSet("x", nil, mode, needing)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		mode     string
		settings map[string]string
		policy   corev1.ServiceExternalTrafficPolicy
		want     string
	}{
		"nothing":          {policy: "Local", want: `has no effect without x.io/mode: "on" or "auto", or mode = on of the configuration with no x.io/mode`},
		"by a key":         {mode: "auto", policy: "Local"},
		"by the file":      {settings: map[string]string{"mode": "on"}, policy: "Local"},
		"against the file": {mode: "off", settings: map[string]string{"mode": "on"}, policy: "Local", want: "has no effect without x.io/mode"},
		"one of two":       {mode: "on", policy: "Cluster", want: "has no effect without spec.externalTrafficPolicy: Local"},
	} {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{ExternalTrafficPolicy: tt.policy}}
		svc.Annotations = map[string]string{"x.io/needing": "yes"}
		if tt.mode != "" {
			svc.Annotations["x.io/mode"] = tt.mode
		}
		_, problems := set.WithSettings(tt.settings).Parse("", annotations.SourceOf(svc))
		switch {
		case tt.want == "" && len(problems) > 0:
			t.Errorf("%s: %v", name, problems.Strings())
		case tt.want != "" && (len(problems) != 1 || problems[0].Code != annotations.CodeLacking || !strings.Contains(problems[0].Message, tt.want)):
			t.Errorf("%s: %v", name, problems.Strings())
		}
	}
	if rows := annotations.Rows(set); len(rows[1].Needs) != 2 {
		t.Errorf("the needs of %s are %q", rows[1].Key, rows[1].Needs)
	}
}
