package model

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// LabelSelector is a Kubernetes label selector, as the file has it.
type LabelSelector = metav1.LabelSelector

// configFile is the file with the official names. Names are read without case.
type configFile struct {
	Cloud                   string `json:"cloud"`
	ResourceManagerEndpoint string `json:"resourceManagerEndpoint"`
	DisableAzureStackCloud  bool   `json:"disableAzureStackCloud"`

	TenantID                      string `json:"tenantId"`
	SubscriptionID                string `json:"subscriptionId"`
	NetworkResourceTenantID       string `json:"networkResourceTenantID"`
	NetworkResourceSubscriptionID string `json:"networkResourceSubscriptionID"`
	ResourceGroup                 string `json:"resourceGroup"`
	Location                      string `json:"location"`
	ExtendedLocationName          string `json:"extendedLocationName"`
	ExtendedLocationType          string `json:"extendedLocationType"`

	UseFederatedWorkloadIdentityExtension bool   `json:"useFederatedWorkloadIdentityExtension"`
	AADFederatedTokenFile                 string `json:"aadFederatedTokenFile"`
	UseManagedIdentityExtension           bool   `json:"useManagedIdentityExtension"`
	UserAssignedIdentityID                string `json:"userAssignedIdentityID"`
	AADClientID                           string `json:"aadClientId"`
	AADClientSecret                       string `json:"aadClientSecret"`
	AADClientCertPath                     string `json:"aadClientCertPath"`
	AADClientCertPassword                 string `json:"aadClientCertPassword"`

	VnetName                   string `json:"vnetName"`
	VnetResourceGroup          string `json:"vnetResourceGroup"`
	SubnetName                 string `json:"subnetName"`
	SecurityGroupName          string `json:"securityGroupName"`
	SecurityGroupResourceGroup string `json:"securityGroupResourceGroup"`

	LoadBalancerSku                           string `json:"loadBalancerSku"`
	LoadBalancerName                          string `json:"loadBalancerName"`
	LoadBalancerResourceGroup                 string `json:"loadBalancerResourceGroup"`
	PrivateLinkServiceResourceGroup           string `json:"privateLinkServiceResourceGroup"`
	LoadBalancerBackendPoolConfigurationType  string `json:"loadBalancerBackendPoolConfigurationType"`
	EnableMigrateToIPBasedBackendPoolAPI      bool   `json:"enableMigrateToIPBasedBackendPoolAPI"`
	PreConfiguredBackendPoolLoadBalancerTypes string `json:"preConfiguredBackendPoolLoadBalancerTypes"`
	ExcludeMasterFromStandardLB               *bool  `json:"excludeMasterFromStandardLB"`
	DisableOutboundSNAT                       *bool  `json:"disableOutboundSNAT"`
	ServiceGatewayEnabled                     bool   `json:"serviceGatewayEnabled"`

	MultipleStandardLoadBalancerConfigurations []multiFile `json:"multipleStandardLoadBalancerConfigurations"`

	ClusterServiceLoadBalancerHealthProbeMode       string `json:"clusterServiceLoadBalancerHealthProbeMode"`
	ClusterServiceSharedLoadBalancerHealthProbePort int32  `json:"clusterServiceSharedLoadBalancerHealthProbePort"`
	ClusterServiceSharedLoadBalancerHealthProbePath string `json:"clusterServiceSharedLoadBalancerHealthProbePath"`

	Tags                                   string            `json:"tags"`
	TagsMap                                map[string]string `json:"tagsMap"`
	SystemTags                             string            `json:"systemTags"`
	EnableIPTagMutationForExistingPublicIP bool              `json:"enableIPTagMutationForExistingPublicIP"`
	UserAgent                              string            `json:"userAgent"`

	ratesFile
}

type multiFile struct {
	Name                     string         `json:"name"`
	PrimaryVMSet             string         `json:"primaryVMSet"`
	AllowServicePlacement    *bool          `json:"allowServicePlacement"`
	ServiceLabelSelector     *LabelSelector `json:"serviceLabelSelector"`
	ServiceNamespaceSelector *LabelSelector `json:"serviceNamespaceSelector"`
	NodeSelector             *LabelSelector `json:"nodeSelector"`
}

func (m multiFile) config() MultiBalancer {
	return MultiBalancer{
		Name: m.Name, PrimaryVMSet: m.PrimaryVMSet, NoPlacement: m.AllowServicePlacement != nil && !*m.AllowServicePlacement,
		ServiceLabels: m.ServiceLabelSelector, ServiceNamespaces: m.ServiceNamespaceSelector, Nodes: m.NodeSelector,
	}
}

// withoutEffect are keys of the official file that change nothing here, each
// with the reason.
func withoutEffect() map[string]string {
	const (
		limits   = "has no effect: there are no such calls here"
		caches   = "has no effect: Berth caches reads for as long as they are valid"
		routes   = "has no effect on load balancers"
		retries  = "has no effect: failed calls are tried again by the queue"
		machines = "has no effect: what a node is, its provider id says"
	)
	out := map[string]string{
		"vmtype": machines, "primaryscalesetname": machines, "primaryavailabilitysetname": machines,
		"disableavailabilitysetnodes": machines, "enablevmssflexnodes": machines,
		"maximumloadbalancerrulecount": "has no effect: it chooses between Basic load balancers, which are retired",
		"routetablename":               routes, "routetableresourcegroup": routes, "useinstancemetadata": routes,
		"loadbalancerbackendpoolupdateintervalinseconds": "has no effect: pools follow at once",
		"nodeinstancenotfoundgraceperiodinseconds":       routes, "cloudconfigtype": "has no effect: the file is what counts",
		"disableapicallcache": caches, "aadmsidataplaneidentitypath": "is not supported; use a managed or a workload identity",
		"auxiliarytokenprovider": "is not supported; two tenants need networkResourceTenantID with aadClientSecret or aadClientCertPath",
		"disablecloudprovider":   "has no effect", "enabledynamicreloading": "has no effect", "disabletcpreset": "has no effect; there is an annotation for it",
	}
	for _, key := range []string{"loadbalancer", "nsg", "publicip", "pls", "vm", "vmss", "vmssvirtualmachines", "vmas", "availabilitysetnodes", "nonvmssuniformnodes", "vmssflex", "vmssflexvm", "routetable", "availabilityset"} {
		out[key+"cachettlinseconds"] = caches
	}
	return withRates(out, limits, retries)
}

func withRates(out map[string]string, limits, retries string) map[string]string {
	for _, key := range []string{"", "retries", "exponent", "duration", "jitter"} {
		out["cloudproviderbackoff"+key] = retries
	}
	for _, key := range []string{"routes", "routetables", "vmss", "vmscaleset", "servicegateway", "virtualmachinesizes", "availabilityset", "deployment", "containerservice", "attachdetachdisk", "snapshot", "disk", "storageaccount", "privatedns", "privateendpoint", "privatednszonegroup", "virtualnetwork"} {
		out[key+"ratelimit"] = limits
	}
	return out
}

// unknownKeys lists keys that nothing reads, and keys without effect.
func unknownKeys(all map[string]any) annotations.Problems {
	known := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[configFile]()) {
		known[lowerCase(field.Tag.Get("json"))] = true
	}
	reasons := withoutEffect()
	var out annotations.Problems
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if known[lowerCase(key)] {
			continue
		}
		message, heard := reasons[lowerCase(key)]
		if !heard {
			message = "is not known, so it has no effect"
		}
		out = append(out, annotations.Problem{Key: key, Message: message, Severity: annotations.Warning})
	}
	return out
}

// check refuses what cannot be served, so that a wrong mode is found at the start
// and not with the first Service.
func (f configFile) check(c Config) error {
	switch sku := lowerCase(f.LoadBalancerSku); sku {
	case "", skuStandard, skuService:
	case skuBasic:
		return errors.New(`loadBalancerSku: "basic" is retired by Azure and not supported; "standard" and "service" are`)
	default:
		return fmt.Errorf(`loadBalancerSku: %q is not supported; "standard" and "service" are`, sku)
	}
	switch pool := lowerCase(f.LoadBalancerBackendPoolConfigurationType); pool {
	case "", lowerCase(poolNIC), lowerCase(PoolNodeIP), lowerCase(poolPodIP):
	default:
		return fmt.Errorf("loadBalancerBackendPoolConfigurationType: %q is none of %s, %s, %s", pool, poolNIC, PoolNodeIP, poolPodIP)
	}
	if err := f.checkPods(); err != nil {
		return err
	}
	if !slices.Contains([]string{"", preInternal, preExternal, preAll}, c.PreConfigured) {
		return fmt.Errorf("preConfiguredBackendPoolLoadBalancerTypes: %q is none of internal, external, all", c.PreConfigured)
	}
	return c.checkMulti()
}

// checkMulti: the rules of the official controller for several load balancers,
// without the one that one of them must have the cluster's name, which is not in
// the file. Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure.go.
func (c Config) checkMulti() error {
	const key = "multipleStandardLoadBalancerConfigurations"
	if len(c.Multi) == 0 {
		return nil
	}
	if c.PoolType != PoolNodeIP {
		return fmt.Errorf("%s: needs pools of the type %s", key, PoolNodeIP)
	}
	names, sets := map[string]bool{}, map[string]bool{}
	for i, m := range c.Multi {
		switch {
		case m.Name == "" || names[lowerCase(m.Name)]:
			return fmt.Errorf("%s[%d].name: %q is empty or listed twice", key, i, m.Name)
		case m.PrimaryVMSet == "" || sets[lowerCase(m.PrimaryVMSet)]:
			return fmt.Errorf("%s[%d].primaryVMSet: %q is empty or listed twice", key, i, m.PrimaryVMSet)
		}
		names[lowerCase(m.Name)], sets[lowerCase(m.PrimaryVMSet)] = true, true
		if err := m.checkSelectors(); err != nil {
			return fmt.Errorf("%s[%d].%w", key, i, err)
		}
	}
	return nil
}

// checkSelectors refuses what is no selector.
func (m MultiBalancer) checkSelectors() error {
	for _, s := range []struct {
		key      string
		selector *LabelSelector
	}{{"serviceLabelSelector", m.ServiceLabels}, {"serviceNamespaceSelector", m.ServiceNamespaces}, {"nodeSelector", m.Nodes}} {
		if _, err := metav1.LabelSelectorAsSelector(s.selector); err != nil {
			return fmt.Errorf("%s: %w", s.key, err)
		}
	}
	return nil
}

// labelsThatPlace are the labels that the selectors of load balancers look at. The
// name of a namespace is none of them: it is known without asking.
func labelsThatPlace(c Config) providers.Labels {
	var out providers.Labels
	for _, m := range c.Multi {
		out.Service = append(out.Service, labelsOf(m.ServiceLabels)...)
		out.Namespace = append(out.Namespace, labelsOf(m.ServiceNamespaces)...)
	}
	slices.Sort(out.Service)
	slices.Sort(out.Namespace)
	out.Service = slices.Compact(out.Service)
	out.Namespace = slices.DeleteFunc(slices.Compact(out.Namespace), func(key string) bool { return key == labelNamespace })
	return out
}

// labelsOf are the labels that a selector looks at.
func labelsOf(s *LabelSelector) []string {
	if s == nil {
		return nil
	}
	out := slices.Sorted(maps.Keys(s.MatchLabels))
	for _, e := range s.MatchExpressions {
		out = append(out, e.Key)
	}
	return out
}

func splitTrimmed(text string) []string {
	var out []string
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
