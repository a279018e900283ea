package e2e

import (
	"testing"

	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	corev1 "k8s.io/api/core/v1"
)

// annotationIntruder returns an intruder that writes one annotation.
func annotationIntruder(name, key, value string, more ...change) intruder {
	return intruder{name, append([]change{setAnnotation(key, value)}, more...)}
}

// setAddress requests an address in the field.
func setAddress(ip string) change {
	return func(svc *corev1.Service) { svc.Spec.LoadBalancerIP = ip }
}

// elsewhereOn asks for a port that the victim does not have.
func elsewhereOn(number int32) change { return setPorts(number, 0) }

// narrowRanges admits few clients, so that it shows when others are admitted.
func narrowRanges(svc *corev1.Service) { svc.Spec.LoadBalancerSourceRanges = []string{"10.1.0.0/16"} }

// groupAsks name the security group of a victim.
func groupAsks(w *world, victim *corev1.Service) []intruder {
	group := w.groupOf(victim.Name)
	if group == "" {
		return nil
	}
	return []intruder{annotationIntruder("group", "security-groups", group), annotationIntruder("extra", "extra-security-groups", group)}
}

func TestIntrudersAWS(t *testing.T) {
	in := onAWS().among(t)
	in.asks = func(victim *corev1.Service) []intruder {
		service := "kubernetes.io/service-name=" + victim.Namespace + "/" + victim.Name
		return append(groupAsks(in.world, victim),
			annotationIntruder("tagged", "additional-resource-tags", service),
			annotationIntruder("tagged-net", "additional-resource-tags", service, useNetworkType),
		)
	}
	in.run(t)
}

func TestIntrudersRefusedAWS(t *testing.T) {
	in := onAWS().among(t)
	in.asks = func(victim *corev1.Service) []intruder { return groupAsks(in.world, victim) }
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
		in.victims = append(in.victims, w.one(k, i, narrowRanges))
	}
	return in
}

const noAddresses = "rules: [{name: addresses, namespaces: ['*'], names: {address: []}}]\n"

func TestIntrudersAzure(t *testing.T) {
	in := onAzure().among(t)
	in.asks = func(victim *corev1.Service) []intruder {
		ip := victim.Status.LoadBalancer.Ingress[0].IP
		return []intruder{
			{"same-address", []change{setAddress(ip)}},
			{"same-address-inside", []change{setAnnotation(azureKey("load-balancer-internal"), "true"), setAddress(ip)}},
			annotationIntruder("address-key", azureKey("load-balancer-ipv4"), ip),
			annotationIntruder("by-name", azureKey("pip-name"), "kubernetes-"+nameOf(victim)),
			annotationIntruder("tags", azureKey("pip-tags"), "k8s-azure-service="+victim.Namespace+"/"+victim.Name),
			annotationIntruder("old-tags", azureKey("pip-tags"), "service="+victim.Namespace+"/"+victim.Name),
			annotationIntruder("ranges", azureKey("additional-public-ips"), ip),
			annotationIntruder("ranges-other-port", azureKey("additional-public-ips"), ip, elsewhereOn(8443)),
		}
	}
	in.run(t)
}

// TestIntrudersRefusedAzure includes Services that share a public address, which the policy
// forbids.
func TestIntrudersRefusedAzure(t *testing.T) {
	in := onAzure().among(t)
	in.asks = func(victim *corev1.Service) []intruder {
		ip := victim.Status.LoadBalancer.Ingress[0].IP
		internal, pip := setAnnotation(azureKey("load-balancer-internal"), "true"), "kubernetes-"+nameOf(victim)
		return []intruder{
			{"same-address", []change{setAddress(ip), elsewhereOn(8443)}},
			{"same-address-inside", []change{internal, setAddress(ip), elsewhereOn(8443)}},
			annotationIntruder("by-name", azureKey("pip-name"), pip, elsewhereOn(8443)),
			annotationIntruder("by-name-label", azureKey("pip-name"), pip, setAnnotation(azureKey("dns-label-name"), "taken"), elsewhereOn(8444)),
			annotationIntruder("ranges", azureKey("additional-public-ips"), ip),
		}
	}
	in.refusedBy(t, noAddresses)
}

func gceAddressAsks(victim *corev1.Service) []intruder {
	ip := victim.Status.LoadBalancer.Ingress[0].IP
	internal := setAnnotation("networking.gke.io/load-balancer-type", "Internal")
	rbs := setAnnotation("cloud.google.com/l4-rbs", "enabled")
	return []intruder{
		{"same-address", []change{setAddress(ip)}},
		{"same-address-rbs", []change{rbs, setAddress(ip)}},
		{"same-address-inside", []change{internal, setAddress(ip)}},
		{"same-address-other-port", []change{internal, setAddress(ip), elsewhereOn(8443)}},
	}
}

func TestIntrudersGCE(t *testing.T) {
	in := onGCE().among(t)
	in.asks = func(victim *corev1.Service) []intruder {
		internal := setAnnotation("networking.gke.io/load-balancer-type", "Internal")
		rule := nameOf(victim)
		outputs := func(svc *corev1.Service) {
			for _, what := range []string{"backend-service", "tcp-forwarding-rule", "firewall-rule", "healthcheck"} {
				setAnnotation("service.kubernetes.io/"+what, rule)(svc)
			}
		}
		return append(gceAddressAsks(victim),
			annotationIntruder("by-name", "networking.gke.io/load-balancer-ip-addresses", rule, setAnnotation("cloud.google.com/l4-rbs", "enabled")),
			intruder{"outputs", []change{outputs}},
			intruder{"outputs-inside", []change{internal, outputs}},
		)
	}
	in.run(t)
}

func TestIntrudersRefusedGCE(t *testing.T) {
	in := onGCE().among(t)
	in.asks = gceAddressAsks
	in.refusedBy(t, noAddresses)
}
