package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// TestDefaults: the section [Berth] of the configuration has the defaults that annotations of
// the AWS Load Balancer Controller declare.
func TestDefaults(t *testing.T) {
	c := suite().Bare(t)
	tls := map[string]string{certKey.Name: "arn:aws:acm:eu-west-1:111122223333:certificate/abc"}
	cases.Defaults{
		Alone: cases.Alone{
			Keys: suite().Cloud.Annotations,
			Kinds: map[string]func(*corev1.Service){LBC: func(svc *corev1.Service) {
				svc.Spec.LoadBalancerClass = new(classLBC)
				udp := svc.Spec.Ports[0]
				udp.Name, udp.Protocol = "udp", corev1.ProtocolUDP
				svc.Spec.Ports = append(svc.Spec.Ports, udp)
			}},
			Values: map[string][]string{schemeKey.Name: {schemePublic, SchemeInternal}, targetTypeKey.Name: {targetIP, targetInstance}},
		},
		With: map[string]map[string]string{sslPolicyKey.Name: tls, manageRulesKey.Name: {groupsKey.Name: "sg-0a1b2c"}},
		Under: func(t testing.TB, svc *corev1.Service, setting, value string) cases.Effect {
			t.Helper()
			config := suite().Parse(t, c.World.Config+cases.Section("Berth", "LoadBalancerController", "true")+cases.Section("Berth", setting, value))
			in, problems := inputOf(config, "kubernetes", svc, c.World.Nodes)
			want, more, err := suite().Cloud.Build(in, c.World.Facts, nil)
			if err != nil {
				t.Fatal(err)
			}
			if all := append(annotations.Problems{}, append(problems, more...)...); all.Errors() {
				want = &stack.Stack{}
				t.Log(all)
			}
			return cases.Effect{Want: want}
		},
	}.Run(t)
}
