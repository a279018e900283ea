package model

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// Bounds of what the official controller lets through for load balancers of the
// SKU Service. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/resource_helpers.go.
const (
	longestContainerIdle = 30
	lastFrontendPort     = 65534
)

// PodIP reports whether pools contain pods: every Service then has its own load balancer,
// of the SKU Service, and a service gateway that forwards to its pods.
func (c Config) PodIP() bool { return c.PoolType == poolPodIP }

// buildPods says what a Service wants whose pool is of pods. There are no probes
// and no rules of the security group, and the traffic policy means nothing: packets
// come to ready pods without another hop.
func buildPods(in input, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	if facts == nil {
		return nil, nil, fault.New(fault.Internal, "azure: facts were not read")
	}
	addresses, unreached := podAddresses(in)
	problems := slices.Concat(validatePods(in), foundPodTrouble(in, facts, have), outOfReach(unreached)).Sorted()
	if problems.Errors() {
		return nil, problems, nil
	}
	uid, c := in.Owner.UID, in.Config
	name := ContainerName(uid)
	out := &stack.Stack{Owner: in.Owner}
	out.Put(stack.Resource{Key: containerIPKey(uid), Spec: ContainerIP{Group: c.Group, Name: ContainerIPName(uid), Version: string(in.Backends.Families[0])}})
	out.Put(stack.Resource{Key: containerKey(uid), Spec: Container{
		Group: c.Group, Name: name, PublicIP: stack.RefTo(containerIPKey(uid)), Rules: containerRules(in), Pools: []string{name},
	}})
	out.Put(stack.Resource{Key: registeredKey(uid), In: gatewayKey(c), Spec: Registered{Group: c.Group, Gateway: GatewayName, Name: name}})
	out.Put(stack.Resource{Key: attachedKey(uid), In: registeredKey(uid), Spec: Attached{Pool: stack.RefTo(containerKey(uid))}})
	if len(addresses) > 0 {
		out.Put(podsResource(c, uid, addresses))
	}
	out.Sort()
	return out, problems, nil
}

func podsResource(c Config, uid string, list []PodAddress) stack.Resource {
	return stack.Resource{Key: podsKey(uid), In: gatewayKey(c), Spec: Pods{Service: stack.RefTo(registeredKey(uid)), Addresses: list}}
}

func containerRules(in input) []Rule {
	var out []Rule
	for _, p := range in.Backends.Ports {
		if in.Ended() {
			break
		}
		r := Rule{
			Name: containerRuleName(p.Protocol, p.Port), Frontend: containerFrontend, Pool: ContainerName(in.Owner.UID), Protocol: wireProtocol(p.Protocol),
			FrontendPort: p.Port, BackendPort: podPort(p), Distribution: "Default", IdleTimeout: int32(idleKey.Get(in.Values)),
		}
		r.TCPReset = r.Protocol == probeTCP
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Rule) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// podPort is the port of the pods that a rule sends to.
func podPort(p nodeports.ServicePort) int32 {
	if p.TargetPort.StrVal == "" && p.TargetPort.IntVal > 0 {
		return p.TargetPort.IntVal
	}
	return p.Port
}

// podAddresses are the ready pods, each under the address of its node. Pods that
// end do not count, even as the last ones; nor do pods of nodes that have no
// internal address of their family, which are named besides. Of several addresses
// the first as a text counts, so that every process takes the same. Sources:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/endpoints.go,
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/initialization.go.
func podAddresses(in input) (out []PodAddress, without []string) {
	for _, port := range in.Backends.Endpoints.ByPort {
		for _, e := range port.List {
			node, known := in.Backends.Nodes.Get(e.Node)
			if e.Terminating || !known {
				continue
			}
			if at := locationOf(node, nodeports.FamilyOf(e.Addr)); at != "" {
				out = append(out, PodAddress{Location: at, Address: e.Addr.String()})
			} else {
				without = append(without, node.Name)
			}
		}
	}
	slices.SortFunc(out, PodAddress.compare)
	slices.Sort(without)
	return slices.Compact(out), slices.Compact(without)
}

// outOfReach warns of nodes whose pods cannot be entered, for want of an address.
func outOfReach(nodes []string) annotations.Problems {
	if len(nodes) == 0 {
		return nil
	}
	return annotations.Problems{annotations.ProblemOf("nodes", "", "have no internal address of the family of their pods: "+shortList(nodes)+", so these pods get no traffic", "", annotations.Warning)}
}

func locationOf(n nodeports.Node, family corev1.IPFamily) string {
	best := ""
	for _, a := range n.Internal {
		if text := a.String(); nodeports.FamilyOf(a) == family && (best == "" || text < best) {
			best = text
		}
	}
	return best
}

// foundPodTrouble blocks the Service where an existing resource of its names cannot be
// updated to the desired state.
func foundPodTrouble(in input, facts *Facts, have *stack.Stack) annotations.Problems {
	var out annotations.Problems
	fail := func(key, value, message string) {
		out = append(out, annotations.ProblemOf(key, value, message, "", annotations.Error))
	}
	if facts.NoGateway {
		fail("service gateway "+GatewayName, "", "does not exist in the resource group "+in.Config.Group+", so nothing can send to pods; AKS makes it with the cluster, and Berth never does")
	}
	if r, ok := have.Get(containerKey(in.Owner.UID)); ok {
		if lb, _ := r.Spec.(Container); !strings.EqualFold(lb.SKU, SKUService) {
			fail("load balancer "+lb.Name, lb.SKU, "is its SKU, and pools of pods need "+SKUService)
		}
	}
	if r, ok := have.Get(registeredKey(in.Owner.UID)); ok && r.Proof == stack.None {
		fail("service gateway "+GatewayName, ContainerName(in.Owner.UID), "is a service there that is for outbound traffic alone, and was not made by this cluster")
	}
	if r, ok := have.Get(containerIPKey(in.Owner.UID)); ok {
		ip, _ := r.Spec.(ContainerIP)
		if !strings.EqualFold(ip.SKU, wireStandardV2) {
			fail("public IP "+ip.Name, ip.SKU, "is its SKU, and load balancers of the SKU "+SKUService+" need "+wireStandardV2)
		}
		if want := string(in.Backends.Families[0]); ip.Version != want {
			fail("public IP "+ip.Name, ip.Version, "is its version, and the Service needs "+want)
		}
	}
	return out
}

// podStatus is the address of the public IP, once the gateway knows the Service.
func podStatus(in input, have *stack.Stack) (netip.Addr, bool) {
	uid := in.Owner.UID
	for _, k := range []stack.Key{containerKey(uid), registeredKey(uid)} {
		if r, ok := have.Get(k); !ok || r.Proof == stack.None || r.State == stack.Failed {
			return netip.Addr{}, false
		}
	}
	ip, _ := stack.SpecOf[ContainerIP](have, containerIPKey(uid))
	a, err := netip.ParseAddr(ip.Address)
	return a, err == nil
}

// followPods retains the existing stack of an invalid Service, with the present pods.
func followPods(in input, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: in.Owner}
	for _, r := range have.Resources {
		if r.Proof != stack.None && r.Key.Kind != KindPods {
			out.Put(r)
		}
	}
	_, registered := out.Get(registeredKey(in.Owner.UID))
	if list, _ := podAddresses(in); registered && len(list) > 0 {
		out.Put(podsResource(in.Config, in.Owner.UID, list))
	}
	out.Sort()
	return out
}

// validatePods judges what the official controller judges, and says besides what
// has no effect.
func validatePods(in input) annotations.Problems {
	var out annotations.Problems
	fail := func(key, value, message, legal string) {
		out = append(out, annotations.ProblemOf(key, value, message, legal, annotations.Error))
	}
	for _, k := range []struct{ key, value string }{
		{"subscriptionId", in.Config.Subscription}, {"resourceGroup", in.Config.Group}, {"location", in.Config.Location}, {"vnetName", in.Config.VNet},
	} {
		if k.value == "" {
			fail(k.key+" of the cloud config", "", "is missing, and the Service needs it", "")
		}
	}
	if in.Kind == Internal {
		out = append(out, internalKey.Refusal(in.Values, "cannot be set: load balancers of the SKU "+SKUService+" are public", "no annotation, or false"))
	}
	if idle := idleKey.Get(in.Values); idle > longestContainerIdle {
		out = append(out, idleKey.Refusal(in.Values, "is too long for load balancers of the SKU "+SKUService, fmt.Sprintf("minutes from 4 to %d", longestContainerIdle)))
	}
	spec := in.Service.Spec
	if spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		fail("spec.sessionAffinity", string(spec.SessionAffinity), "is nothing that load balancers of the SKU "+SKUService+" do", string(corev1.ServiceAffinityNone))
	}
	if spec.LoadBalancerIP != "" {
		fail("spec.loadBalancerIP", spec.LoadBalancerIP, "cannot be asked for: load balancers of the SKU "+SKUService+" get a new public IP each", "no address")
	}
	if len(in.Backends.Families) > 1 {
		fail("spec.ipFamilies", fmt.Sprint(in.Backends.Families), "are two, and pools of pods have one", "one family")
	}
	return slices.Concat(out, validatePodPorts(in.Backends.Ports), withoutEffectOnPods(in))
}

// validatePodPorts: two rules cannot send to one port of one pool while floating
// IP is off. Source: Azure Load Balancer documentation, floating IP.
func validatePodPorts(ports []nodeports.ServicePort) annotations.Problems {
	var out annotations.Problems
	fail := func(port, message, legal string) {
		out = append(out, annotations.ProblemOf("spec.ports", port, message, legal, annotations.Error))
	}
	if len(ports) == 0 {
		fail("", "is empty, so there is nothing to serve", "at least one port")
	}
	taken := map[string]nodeports.ServicePort{}
	for _, p := range ports {
		if p.Protocol != corev1.ProtocolTCP && p.Protocol != corev1.ProtocolUDP {
			fail(p.String(), "is "+string(p.Protocol)+", which load balancers of the SKU "+SKUService+" do not serve", "TCP or UDP")
			continue
		}
		if p.Port > lastFrontendPort {
			fail(p.String(), "is above the last port that a rule can have", fmt.Sprintf("ports from 1 to %d", lastFrontendPort))
		}
		if p.TargetPort.StrVal != "" {
			fail(p.String(), "has the named target port "+p.TargetPort.StrVal+", and rules to pods send to a number", "a number as targetPort")
			continue
		}
		to := fmt.Sprint(p.Protocol, podPort(p))
		if other, twice := taken[to]; twice {
			fail(p.String(), fmt.Sprintf("sends to the target port %d, as %s does", podPort(p), other), "another targetPort for each port of a protocol")
		}
		taken[to] = p
	}
	return out
}

// withoutEffectOnPods warns of all settings without effect. The security groups of the
// subnets alone determine the permitted clients.
func withoutEffectOnPods(in input) annotations.Problems {
	var out annotations.Problems
	for _, o := range in.Values.Origins() {
		if o.Key == idleKey.Name || o.Key == internalKey.Name {
			continue
		}
		out = append(out, annotations.ProblemOf(o.Key, "", "has no effect on load balancers of the SKU "+SKUService, "", annotations.Warning))
	}
	if list := in.Service.Spec.LoadBalancerSourceRanges; len(list) > 0 {
		out = append(out, annotations.ProblemOf("spec.loadBalancerSourceRanges", strings.Join(list, ","),
			"has no effect on load balancers of the SKU "+SKUService+": clients that the security groups of the subnets let in reach the pods", "", annotations.Warning))
	}
	return out
}
