package azure

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// Names where pools are of pods. Sources:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/resource_helpers.go,
// kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go.
const (
	// gatewayName is fixed: AKS makes the service gateway before any controller runs.
	gatewayName       = "servicegateway"
	containerFrontend = "frontend"
	containerIPSuffix = "-pip"

	// SKUs as Azure writes them.
	wireService    = "Service"
	wireStandardV2 = "StandardV2"

	typeInbound = "Inbound"
)

// finalizerPods is what the official controller puts on Services of this mode
// besides the stock finalizer. It is taken off with the stock one and never put on.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/finalizers.go.
const finalizerPods = "servicegateway.azure.com/service-cleanup"

// containerName names the load balancer, its pool and the service of the gateway.
func containerName(uid string) string { return lower(uid) }

// containerIPName names the public IP of the load balancer.
func containerIPName(uid string) string { return containerName(uid) + containerIPSuffix }

// containerRuleName is the name of the rule of a port.
func containerRuleName(protocol corev1.Protocol, port int32) string {
	return "rule-" + lower(string(protocol)) + "-" + string(number(port))
}

// Keys.

func containerKey(uid string) stack.Key {
	return stack.Key{Kind: KindContainer, Name: containerName(uid)}
}
func containerIPKey(uid string) stack.Key {
	return stack.Key{Kind: KindContainerIP, Name: containerIPName(uid)}
}
func gatewayKey(c Config) stack.Key {
	return stack.Key{Kind: KindGateway, Name: c.Group + "/" + gatewayName}
}
func registeredKey(uid string) stack.Key {
	return stack.Key{Kind: KindRegistered, Name: containerName(uid)}
}
func attachedKey(uid string) stack.Key {
	return stack.Key{Kind: KindAttached, Name: containerName(uid)}
}
func podsKey(uid string) stack.Key { return stack.Key{Kind: KindPods, Name: containerName(uid)} }

// ARM ids. The resource group is the cluster's, whatever the configuration says of
// load balancers, as in the official controller.

// containerID is the ARM id of the load balancer of a Service.
func (c Config) containerID(name string) string {
	return armID(c.networkSubscription(), c.Group, "loadBalancers", name)
}

func (c Config) containerPoolID(name string) string {
	return c.containerID(name) + "/" + listPools + "/" + name
}

// containerIPID is the ARM id of its public IP.
func (c Config) containerIPID(name string) string {
	return armID(c.networkSubscription(), c.Group, "publicIPAddresses", name)
}

// gatewayID is the ARM id of the service gateway.
func (c Config) gatewayID() string {
	return armID(c.networkSubscription(), c.Group, "serviceGateways", gatewayName)
}
