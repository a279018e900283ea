package model

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

const edgeARN = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/net/edge/0a1b2c3d4e5f6071"

// TestAdoptRefused: a load balancer that cannot be used is reported in one clear
// problem, and so are settings that contradict the use of a load balancer of others.
func TestAdoptRefused(t *testing.T) {
	w := keyWorld(t)
	vpc := w.Facts.VPC
	for text, c := range map[string]struct {
		value  string
		there  Given
		values map[string]string
		groups []stack.Ref
	}{
		"":                        {value: "edge", there: Given{ARN: edgeARN, Type: "network", VPC: vpc}},
		"does not exist":          {value: "other", there: Given{ARN: edgeARN, Type: "network", VPC: vpc}},
		"of the type application": {value: "edge", there: Given{ARN: edgeARN, Type: "application", VPC: vpc}},
		"in vpc-9, but":           {value: "edge", there: Given{ARN: edgeARN, Type: "network", VPC: "vpc-9"}},
		"names a deleted load balancer: the one that now has its name is arn:other": {value: edgeARN, there: Given{ARN: "arn:other", Type: "network", VPC: vpc}},
		"made for Service shop/api, which would":                                    {value: "edge", there: Given{ARN: edgeARN, Type: "network", VPC: vpc, Maker: MadeElsewhere + "for Service shop/api"}},
		"is no ARN of a Network Load Balancer":                                      {value: strings.Replace(edgeARN, "/net/", "/app/", 1)},
		"contradicts " + TagGroup:                                                   {value: "edge", there: Given{ARN: edgeARN, Type: "network", VPC: vpc}, values: map[string]string{TagGroup: "shop"}},
		"is possible with load balancers of kind":                                   {value: "edge", values: map[string]string{typeKey.Name: "nlb"}},
		"decide about clients":                                                      {value: "edge", there: Given{ARN: edgeARN, Type: "network", VPC: vpc}, values: map[string]string{rangesKey.Name: "192.0.2.0/24"}, groups: []stack.Ref{stack.RefID("sg-1")}},
	} {
		svc := suite().Open(t, "lbc-instances").Service.DeepCopy()
		svc.Annotations = map[string]string{typeKey.Name: typeExternal, targetTypeKey.Name: targetInstance, adoptKey.Name: c.value}
		for key, value := range c.values {
			svc.Annotations[key] = value
		}
		svc.Spec.Ports, svc.Spec.SessionAffinity = svc.Spec.Ports[:1], ""
		facts := *w.Facts
		facts.Given = map[string]Given{"edge": c.there}
		have := &stack.Stack{Resources: []stack.Resource{{Key: SharedNetworkKey("edge"), ID: edgeARN, Ownership: stack.External, Spec: Network{Name: "edge", Groups: c.groups}}}}
		in, problems := inputOf(parseConfig(t, w.Config+"\n[Berth]\nLoadBalancerController = true\n"), w.ClusterName, svc, w.Nodes)
		_, more, err := buildStack(in, &facts, have)
		problems = append(problems, more...)
		var errs []string
		for _, p := range problems {
			if p.Severity == annotations.Error {
				errs = append(errs, fmt.Sprint(p))
			}
		}
		if all := strings.Join(errs, "\n"); err != nil || !strings.Contains(all, text) || (len(errs) > 0) != (text != "") || len(errs) > 1 {
			t.Errorf("%q: %v, told %s", text, err, all)
		}
	}
}

// TestAdoptReach: a policy sees the name of the load balancer, however it is given.
func TestAdoptReach(t *testing.T) {
	for _, value := range []string{"edge", edgeARN} {
		svc := &corev1.Service{}
		svc.Annotations = map[string]string{adoptKey.Name: value}
		bag, problems := Annotations().Parse(LBC, annotations.SourceOf(svc))
		got := computeReach(input{Service: svc, Kind: LBC, Values: bag}).Names
		want := providers.Naming{Thing: annotations.ThingLoadBalancer, Key: adoptKey.Name, Value: "edge"}
		if len(problems) > 0 || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v %v", value, got, problems.Strings())
		}
	}
}
