package model

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// checkPods: pools of pods are three keys together, and go with neither several
// load balancers nor pools of interfaces. The rules are those of the official
// controller. Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure.go.
func (f configFile) checkPods() error {
	var said, missing string
	for _, k := range []struct {
		key, want, got string
		is             bool
	}{
		{"loadBalancerBackendPoolConfigurationType", poolPodIP, f.LoadBalancerBackendPoolConfigurationType, strings.EqualFold(f.LoadBalancerBackendPoolConfigurationType, poolPodIP)},
		{"loadBalancerSku", skuService, f.LoadBalancerSku, strings.EqualFold(f.LoadBalancerSku, skuService)},
		{"serviceGatewayEnabled", "true", "false", f.ServiceGatewayEnabled},
	} {
		if k.is {
			said = cmp.Or(said, fmt.Sprintf("%s: %q", k.key, k.want))
			continue
		}
		missing = cmp.Or(missing, fmt.Sprintf("%s %q, which is %q", k.key, k.want, k.got))
	}
	switch {
	case said == "":
		return nil
	case missing != "":
		return fmt.Errorf("%s needs %s", said, missing)
	case len(f.MultipleStandardLoadBalancerConfigurations) > 0:
		return errors.New(`multipleStandardLoadBalancerConfigurations: is for Standard load balancers, and loadBalancerSku is "service"`)
	case f.EnableMigrateToIPBasedBackendPoolAPI:
		return errors.New(`enableMigrateToIPBasedBackendPoolAPI: is for pools of network interfaces, and loadBalancerBackendPoolConfigurationType is "podIP"`)
	}
	return nil
}

// idleWithPods warns of keys that have no effect where pools are of pods.
func (f configFile) idleWithPods(c Config) annotations.Problems {
	if !c.PodIP() {
		return nil
	}
	var out annotations.Problems
	for _, k := range []struct {
		key  string
		said bool
	}{
		{"loadBalancerName", f.LoadBalancerName != ""},
		{"loadBalancerResourceGroup", f.LoadBalancerResourceGroup != ""},
		{"privateLinkServiceResourceGroup", f.PrivateLinkServiceResourceGroup != ""},
		{"preConfiguredBackendPoolLoadBalancerTypes", f.PreConfiguredBackendPoolLoadBalancerTypes != ""},
		{"disableOutboundSNAT", f.DisableOutboundSNAT != nil},
		{"excludeMasterFromStandardLB", f.ExcludeMasterFromStandardLB != nil},
		{"clusterServiceLoadBalancerHealthProbeMode", f.ClusterServiceLoadBalancerHealthProbeMode != ""},
		{"tags", f.Tags != ""},
		{"tagsMap", len(f.TagsMap) > 0},
		{"systemTags", f.SystemTags != ""},
	} {
		if k.said {
			out = append(out, annotations.Problem{Key: k.key, Message: "has no effect on load balancers of the SKU " + SKUService, Severity: annotations.Warning})
		}
	}
	return out
}
