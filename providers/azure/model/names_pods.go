package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// Names where pools are of pods. Sources:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/resource_helpers.go,
// kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go.
const (
	// GatewayName is fixed: AKS makes the service gateway before any controller runs.
	GatewayName       = "servicegateway"
	containerFrontend = "frontend"
	containerIPSuffix = "-pip"

	// SKUs as Azure writes them.
	SKUService     = "Service"
	wireStandardV2 = "StandardV2"

	typeInbound = "Inbound"
)

// finalizerPods is what the official controller puts on Services of this mode
// besides the stock finalizer. It is taken off with the stock one and never put on.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/finalizers.go.
const finalizerPods = "servicegateway.azure.com/service-cleanup"

// ContainerName names the load balancer, its pool and the service of the gateway.
func ContainerName(uid string) string { return lowerCase(uid) }

// ContainerIPName names the public IP of the load balancer.
func ContainerIPName(uid string) string { return ContainerName(uid) + containerIPSuffix }

// containerRuleName is the name of the rule of a port.
func containerRuleName(protocol corev1.Protocol, port int32) string {
	return "rule-" + lowerCase(string(protocol)) + "-" + string(jsonNumber(port))
}

// Keys.

func containerKey(uid string) stack.Key   { return keyOf(KindContainer, ContainerName(uid)) }
func containerIPKey(uid string) stack.Key { return keyOf(KindContainerIP, ContainerIPName(uid)) }
func gatewayKey(c Config) stack.Key {
	return stack.Key{Kind: KindGateway, Name: c.Group + "/" + GatewayName}
}
func registeredKey(uid string) stack.Key { return keyOf(KindRegistered, ContainerName(uid)) }
func attachedKey(uid string) stack.Key   { return keyOf(KindAttached, ContainerName(uid)) }
func podsKey(uid string) stack.Key       { return keyOf(KindPods, ContainerName(uid)) }

// ARM ids. The resource group is the cluster's, whatever the configuration says of
// load balancers, as in the official controller.

// ContainerID is the ARM id of the load balancer of a Service.
func (c Config) ContainerID(name string) string {
	return ARMID(c.SubscriptionOfNetwork(), c.Group, "loadBalancers", name)
}

func (c Config) containerPoolID(name string) string {
	return c.ContainerID(name) + "/" + ListPools + "/" + name
}

// ContainerIPID is the ARM id of its public IP.
func (c Config) ContainerIPID(name string) string {
	return ARMID(c.SubscriptionOfNetwork(), c.Group, "publicIPAddresses", name)
}

// GatewayID is the ARM id of the service gateway.
func (c Config) GatewayID() string {
	return ARMID(c.SubscriptionOfNetwork(), c.Group, "serviceGateways", GatewayName)
}
