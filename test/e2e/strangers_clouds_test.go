package e2e

import (
	"testing"

	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	corev1 "k8s.io/api/core/v1"
)

// named returns a stranger, an intruder that writes one annotation.
func named(name, key, value string, more ...change) stranger {
	return stranger{name, append([]change{annotate(key, value)}, more...)}
}

// address asks for an address in the field.
func address(ip string) change {
	return func(svc *corev1.Service) { svc.Spec.LoadBalancerIP = ip }
}

// elsewhereOn asks for a port that the victim does not have.
func elsewhereOn(number int32) change { return ports(number, 0) }

// narrow lets few clients in, so that it shows when others are let in.
func narrow(svc *corev1.Service) { svc.Spec.LoadBalancerSourceRanges = []string{"10.1.0.0/16"} }

// groupAsks name the security group of a victim.
func groupAsks(w *world, victim *corev1.Service) []stranger {
	group := w.groupOf(victim.Name)
	if group == "" {
		return nil
	}
	return []stranger{named("group", "security-groups", group), named("extra", "extra-security-groups", group)}
}

func TestStrangersAWS(t *testing.T) {
	in := onAWS().among(t)
	in.asks = func(victim *corev1.Service) []stranger {
		service := "kubernetes.io/service-name=" + victim.Namespace + "/" + victim.Name
		return append(groupAsks(in.world, victim),
			named("tagged", "additional-resource-tags", service),
			named("tagged-net", "additional-resource-tags", service, network),
		)
	}
	in.run(t)
}

func TestStrangersRefusedAWS(t *testing.T) {
	in := onAWS().among(t)
	in.asks = func(victim *corev1.Service) []stranger { return groupAsks(in.world, victim) }
	in.refusedBy(t, noGroups)
}

// groupOf is the security group of a victim's Classic Load Balancer.
func (w *world) groupOf(name string) string {
	w.t.Helper()
	out, err := w.aws.elb.DescribeLoadBalancers(w.t.Context(), &elb.DescribeLoadBalancersInput{})
	w.must(err)
	var b balancer
	w.eventually("the load balancer of "+name, func() (err error) { // others come and go while it is read
		b, err = w.balancer(name)
		return err
	})
	for _, lb := range out.LoadBalancerDescriptions {
		if *lb.LoadBalancerName == b.Name {
			return lb.SecurityGroups[0]
		}
	}
	return ""
}

// among has victims of all kinds in a cloud.
func (p *place) among(t *testing.T) *intrusion {
	p.plane = &plane
	w := p.start(t, 3)
	in := &intrusion{world: w, dump: w.dump, sees: func(name string) (any, error) { return w.front(name) }}
	for i, k := range p.kinds {
		in.victims = append(in.victims, w.one(k, i, narrow))
	}
	return in
}

const noAddresses = "rules: [{name: addresses, namespaces: ['*'], names: {address: []}}]\n"

func TestStrangersAzure(t *testing.T) {
	in := onAzure().among(t)
	in.asks = func(victim *corev1.Service) []stranger {
		ip := victim.Status.LoadBalancer.Ingress[0].IP
		return []stranger{
			{"same-address", []change{address(ip)}},
			{"same-address-inside", []change{annotate(azureKey("load-balancer-internal"), "true"), address(ip)}},
			named("address-key", azureKey("load-balancer-ipv4"), ip),
			named("by-name", azureKey("pip-name"), "kubernetes-"+nameOf(victim)),
			named("tags", azureKey("pip-tags"), "k8s-azure-service="+victim.Namespace+"/"+victim.Name),
			named("old-tags", azureKey("pip-tags"), "service="+victim.Namespace+"/"+victim.Name),
			named("ranges", azureKey("additional-public-ips"), ip),
			named("ranges-other-port", azureKey("additional-public-ips"), ip, elsewhereOn(8443)),
		}
	}
	in.run(t)
}

// TestStrangersRefusedAzure includes Services that share a public address, which the policy
// forbids.
func TestStrangersRefusedAzure(t *testing.T) {
	in := onAzure().among(t)
	in.asks = func(victim *corev1.Service) []stranger {
		ip := victim.Status.LoadBalancer.Ingress[0].IP
		internal, pip := annotate(azureKey("load-balancer-internal"), "true"), "kubernetes-"+nameOf(victim)
		return []stranger{
			{"same-address", []change{address(ip), elsewhereOn(8443)}},
			{"same-address-inside", []change{internal, address(ip), elsewhereOn(8443)}},
			named("by-name", azureKey("pip-name"), pip, elsewhereOn(8443)),
			named("by-name-label", azureKey("pip-name"), pip, annotate(azureKey("dns-label-name"), "taken"), elsewhereOn(8444)),
			named("ranges", azureKey("additional-public-ips"), ip),
		}
	}
	in.refusedBy(t, noAddresses)
}

func gceAddressAsks(victim *corev1.Service) []stranger {
	ip := victim.Status.LoadBalancer.Ingress[0].IP
	internal := annotate("networking.gke.io/load-balancer-type", "Internal")
	rbs := annotate("cloud.google.com/l4-rbs", "enabled")
	return []stranger{
		{"same-address", []change{address(ip)}},
		{"same-address-rbs", []change{rbs, address(ip)}},
		{"same-address-inside", []change{internal, address(ip)}},
		{"same-address-other-port", []change{internal, address(ip), elsewhereOn(8443)}},
	}
}

func TestStrangersGCE(t *testing.T) {
	in := onGCE().among(t)
	in.asks = func(victim *corev1.Service) []stranger {
		internal := annotate("networking.gke.io/load-balancer-type", "Internal")
		rule := nameOf(victim)
		outputs := func(svc *corev1.Service) {
			for _, what := range []string{"backend-service", "tcp-forwarding-rule", "firewall-rule", "healthcheck"} {
				annotate("service.kubernetes.io/"+what, rule)(svc)
			}
		}
		return append(gceAddressAsks(victim),
			named("by-name", "networking.gke.io/load-balancer-ip-addresses", rule, annotate("cloud.google.com/l4-rbs", "enabled")),
			stranger{"outputs", []change{outputs}},
			stranger{"outputs-inside", []change{internal, outputs}},
		)
	}
	in.run(t)
}

func TestStrangersRefusedGCE(t *testing.T) {
	in := onGCE().among(t)
	in.asks = gceAddressAsks
	in.refusedBy(t, noAddresses)
}
