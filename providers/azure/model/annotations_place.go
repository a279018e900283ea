package model

import (
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// Keys that choose the kind of load balancer and which one.
var (
	internalKey = &annotations.Key[bool]{
		Name: azurePrefix + "load-balancer-internal", Group: groupPlace, Example: "true", Exposes: annotations.ToInternet,
		Doc: "Gives the Service an address of the virtual network instead of a public one.",
		Forms: []annotations.Form[bool]{{
			Type: boolType(), Bad: annotations.AsAbsent, Change: annotations.Replaced, Source: cpaBalancer,
			Doc: `"True" means internal here. The official controller makes a public load balancer of it whose security group stays closed. ` +
				"After a change the Service is on the new load balancer before it leaves the old one; its address changes.",
		}},
	}
	subnetKey = &annotations.Key[string]{
		Name: azurePrefix + "load-balancer-internal-subnet", Names: annotations.NamesThe(annotations.ThingSubnet), Group: groupPlace, Example: "backend",
		Doc: "Name of the subnet, in the cluster's virtual network, that the address is from.",
		Forms: []annotations.Form[string]{{
			Kinds: onInternal(), Type: annotations.String().Trimmed(), Empty: annotations.EmptyAbsent,
			Or: []string{"subnetName"}, Change: annotations.Brief, Source: cpaBalancer,
			Doc: "It is part of the names of the frontend, rules and probes, so they are recreated in one write.",
		}},
	}
	configurationsKey = &annotations.Key[[]string]{
		Name: azurePrefix + "load-balancer-configurations", Names: annotations.NamesThe(annotations.ThingLoadBalancer), AnyCase: true, Group: groupPlace, Example: "lb1,lb2",
		Doc: "Which of several load balancers the Service may be on.",
		Forms: []annotations.Form[[]string]{{
			Type: annotations.ListWith(annotations.ListOptions{Unique: true}, annotations.NonEmpty()), DefaultDoc: "all of them", Change: annotations.Replaced,
			Needs: []annotations.Need{{annotations.Setting(settingBalancers, "")}}, Source: cpaHelpers,
		}},
	}
	groupKey = annotations.Configured(&annotations.Key[string]{
		Name: azurePrefix + "load-balancer-resource-group", Names: annotations.NamesThe(annotations.ThingResourceGroup), Group: groupPlace, Example: "network-group",
		Doc:   "Resource group of the public IP; the load balancer is never moved by it.",
		Forms: nameForm("", cpaBalancer, Public),
	}, annotations.EmptyAbsent, "resourceGroup")
	modeKey = &annotations.Key[string]{
		Name: azurePrefix + "load-balancer-mode", Names: annotations.NamesNothing(), Group: groupPlace, Example: "__auto__", Doc: "Which Basic load balancer the Service is on.",
		Forms: []annotations.Form[string]{{
			Type: annotations.String(), Support: annotations.Accepted, Source: cpaBalancer,
			Reason: "it chooses between load balancers of the Basic SKU, which Azure has retired; Standard ones ignore it in the official controller as well",
		}},
	}
)

// settingBalancers is the setting with the names of several load balancers.
const settingBalancers = "multipleStandardLoadBalancerConfigurations"

// settingPool is the setting with the kind of members.
const settingPool = "loadBalancerBackendPoolConfigurationType"

// settingsOf returns the values of the configuration that annotations depend on.
func settingsOf(c Config) map[string]string {
	var names []string
	for _, m := range c.Multi {
		names = append(names, m.Name)
	}
	return map[string]string{settingBalancers: strings.Join(names, ","), settingPool: c.PoolType}
}

func placeKeys() []annotations.Declaration {
	return []annotations.Declaration{internalKey, subnetKey, configurationsKey, groupKey, modeKey}
}
