package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// TestActions: what an action says is taken as it is, or refused with what is legal.
func TestActions(t *testing.T) {
	const blue = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/blue/0a1b2c3d4e5f6071"
	with := func(config string) string { return `{"type":"forward","forwardConfig":` + config + `}` }
	for value, want := range map[string]string{
		`{"type":"forward"}`: "",
		with(`{"baseServiceWeight":90,"targetGroups":[{"targetGroupARN":"` + blue + `","weight":10}],"targetGroupStickinessConfig":{"enabled":true}}`): "",
		with(`{"baseServiceWeight":1,"targetGroups":[{"targetGroupARN":"` + blue + `"}]}`):                                                             "",
		`{"type":"redirect"}`: "legal is forward",
		`{`:                   "is not legal JSON",
		with(`{"targetGroups":[{"targetGroupARN":"` + blue + `"}]}`):                            "needs baseServiceWeight",
		with(`{"baseServiceWeight":1000}`):                                                      "from 0 to 999",
		with(`{"baseServiceWeight":1,"targetGroups":[{"serviceName":"web","servicePort":80}]}`): "",
		with(`{"baseServiceWeight":1,"targetGroups":[{"serviceName":"web","servicePort":"http","weight":5},{"serviceName":"web","servicePort":80,"weight":5}]}`): "",
		with(`{"baseServiceWeight":1,"targetGroups":[{"serviceName":"web"}]}`):                                                                                   `names the Service "web" without servicePort`,
		with(`{"baseServiceWeight":1,"targetGroups":[{"serviceName":"web","servicePort":true}]}`):                                                                "is not legal JSON",
		with(`{"baseServiceWeight":1,"targetGroups":[{"serviceName":"web","servicePort":80,"targetGroupARN":"` + blue + `"}]}`):                                  "one and only one",
		with(`{"baseServiceWeight":1,"targetGroups":[{"weight":1}]}`):                                                                                            "one and only one",
		with(`{"baseServiceWeight":1,"targetGroups":[{"serviceName":"web","servicePort":80},{"serviceName":"web","servicePort":81,"weight":1}]}`):                `gives the Service "web" with port 80 no weight`,
		with(`{"baseServiceWeight":1,"targetGroups":[{"serviceName":"web","servicePort":80,"weight":1},{"serviceName":"web","servicePort":80,"weight":1}]}`):     "twice",
		with(`{"baseServiceWeight":1,"targetGroups":[{"targetGroupARN":"blue"}]}`):                                                                               "not the ARN",
		with(`{"baseServiceWeight":1,"targetGroups":[{"targetGroupARN":"` + blue + `"},{"targetGroupARN":"` + blue + `2"}]}`):                                    "no weight",
		with(`{"baseServiceWeight":1,"targetGroups":[{"targetGroupARN":"` + blue + `","weight":-1}]}`):                                                           "legal is 0 to 999",
		with(`{"baseServiceWeight":1,"targetGroups":[` + strings.Repeat(`{"targetGroupARN":"`+blue+`","weight":1},`, 4) + `{}]}`):                                "at most 4",
		with(`{"baseServiceWeight":1,"targetGroups":[{"targetGroupARN":"` + blue + `","weight":1},{"targetGroupARN":"` + blue + `","weight":2}]}`):               "twice",
	} {
		svc := suite().Open(t, "lbc-pods").Service.DeepCopy()
		svc.Annotations[keyPrefix+"actions.TCP-80"] = value
		_, problems := inputOf(parseConfig(t, "[Berth]\nLoadBalancerController = true\n"), "kubernetes", svc, nil)
		said := strings.Join(problems.Strings(), "\n")
		if problems.Errors() != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: want %q, got %q", value, want, said)
		}
	}
}

// TestNamedTargetGroups: a policy knows which groups a Service names.
func TestNamedTargetGroups(t *testing.T) {
	svc := suite().Open(t, "lbc-pods").Service.DeepCopy()
	const blue = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/blue/0a1b2c3d4e5f6071"
	svc.Annotations[keyPrefix+"actions.TCP-80"] = `{"type":"forward","forwardConfig":{"baseServiceWeight":1,"targetGroups":[{"targetGroupARN":"` + blue + `"}]}}`
	in, _ := inputOf(parseConfig(t, "[Berth]\nLoadBalancerController = true\n"), "kubernetes", svc, nil)
	want := providers.Naming{Thing: annotations.ThingTargetGroup, Key: keyPrefix + "actions.TCP-80", Value: blue}
	if names := computeReach(in).Names; !slices.Contains(names, want) {
		t.Errorf("names: %v", names)
	}
}
