package aws_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
)

// TestPermissions holds docs/permissions/aws.json against what is called when a
// load balancer of each kind is changed in everything that can change.
func TestPermissions(t *testing.T) {
	setCredentials(t)
	seed := simtest.Start(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 6}}).Cloud.Seed
	public, group := seed.PublicSubnets(), seed.DefaultGroup
	fewer := func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }
	var classic, network []props.Case
	for _, c := range propsCases() {
		if strings.HasPrefix(c.Name, "nlb") {
			network = append(network, c)
		} else {
			classic = append(classic, c)
		}
	}
	classic = append(classic,
		serviceCase("clb-fewer", map[string]string{"aws-load-balancer-extra-security-groups": group, "aws-load-balancer-subnets": public[0]}, fewer),
		serviceCase("clb-more", map[string]string{"aws-load-balancer-subnets": strings.Join(public[:2], ",")}, nil),
		serviceCase("clb-tls", map[string]string{"aws-load-balancer-ssl-cert": certificates + "1"}, nil),
		serviceCase("clb-other-certificate", map[string]string{"aws-load-balancer-ssl-cert": certificates + "2"}, nil))
	nlb := func(name string, more map[string]string, change func(*corev1.ServiceSpec)) props.Case {
		annotations := map[string]string{"aws-load-balancer-type": "nlb"}
		for k, v := range more {
			annotations[k] = v
		}
		return serviceCase(name, annotations, change)
	}
	network = append(network,
		nlb("nlb-fewer", map[string]string{"aws-load-balancer-healthcheck-interval": "30"}, fewer),
		nlb("nlb-checks", map[string]string{"aws-load-balancer-healthcheck-interval": "10"}, nil),
		nlb("nlb-subnet", map[string]string{"aws-load-balancer-subnets": public[0]}, nil),
		nlb("nlb-tags", map[string]string{"aws-load-balancer-additional-resource-tags": "team=web"}, nil))
	managed := []props.Case{
		nlb("managed", nil, nil), nlb("managed-ranges", map[string]string{"load-balancer-source-ranges": "10.1.0.0/16"}, props.Local),
		nlb("managed-groups", map[string]string{"aws-load-balancer-security-groups": group}, nil), nlb("managed", nil, nil),
	}
	permissions.Check(t, permissions.AWS(),
		permissions.Walk{Fresh: newSubject(""), Cases: classic},
		permissions.Walk{Fresh: newSubject(""), Cases: network},
		permissions.Walk{Fresh: newSubject("\n[Global]\nNLBSecurityGroupMode = Managed\n"), Cases: managed})
}

// TestPermissionsController compares docs/permissions/aws-controller.json with the calls
// for load balancers of the AWS Load Balancer Controller. The group that they send from
// is configured: a process that does not know the neighbour would wait until the group is
// unused. The permissions to create one follow from the group of each load balancer.
func TestPermissionsController(t *testing.T) {
	setCredentials(t)
	group := simtest.Start(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 6}}).Cloud.Seed.DefaultGroup
	all := controllerCases()
	more := controllerService("lbc-more", map[string]string{
		"aws-load-balancer-nlb-target-type": "ip", "aws-load-balancer-ssl-cert": certificate,
		"aws-load-balancer-security-groups": group, "aws-load-balancer-additional-resource-tags": "team=web",
	}, nil)
	checks := controllerService("lbc-checks", map[string]string{"aws-load-balancer-nlb-target-type": "ip", "aws-load-balancer-healthcheck-interval": "20"}, nil)
	permissions.Check(t, permissions.AWSController(), permissions.Walk{
		Fresh: withBranches("BackendSecurityGroup = " + group + "\n"), Cases: append(all, all[1], more, all[0], checks, sharingCase(), all[2]),
	})
}

// withBranches has a pod on the first node with a network interface of its own.
func withBranches(config string) props.New {
	return func(t testing.TB) props.Subject {
		s := controllerWith(config)(t)
		if p, ok := s.(podded); ok {
			p.branches(p.Slices(controllerService("any", nil, nil).Service)[0].Endpoints[0].Addresses[0])
		}
		return s
	}
}
