package model

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Keys for the security group.
var (
	serviceTagsKey = annotations.Limiting(&annotations.Key[[]string]{
		Name: azurePrefix + "allowed-service-tags", Names: annotations.NamesNothing(), Group: groupAccess, Example: "AzureCloud,AzureFrontDoor.Backend",
		Doc: "Azure service tags whose addresses may connect; others may not.",
		Forms: []annotations.Form[[]string]{{
			Type:       annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, serviceTag()),
			DefaultDoc: "public Services are open to the Internet", Source: cpaAccess,
			Doc: "What cannot be a tag, and an empty value, is refused; the official controller hands it to Azure, which refuses the security group, or closes the Service with it.",
		}},
	})
	allowedRangesKey = annotations.Limiting(&annotations.Key[[]netip.Prefix]{
		Name: azurePrefix + "allowed-ip-ranges", Names: annotations.NamesNothing(), Group: groupAccess, Example: "10.0.0.0/8,2001:db8::/32",
		Doc: "Addresses that may connect; kube-proxy lets others pass.",
		Forms: []annotations.Form[[]netip.Prefix]{{
			Type: strictRanges(), DefaultDoc: "public Services are open to the Internet", Source: cpaAccess,
			Doc: "Entries that are no ranges, and an empty value, are refused, and the existing rules stay; the official controller denies all clients with them.",
		}},
	}, "0.0.0.0/0", "::/0")
	rangesKey = annotations.Limiting(&annotations.Key[[]netip.Prefix]{
		Name: corev1.AnnotationLoadBalancerSourceRangesKey, Names: annotations.NamesNothing(), Group: groupAccess, Example: "10.0.0.0/8",
		Doc: "Addresses that may connect, together with those of " + azurePrefix + "allowed-ip-ranges.",
		Forms: []annotations.Form[[]netip.Prefix]{{
			Type: strictRanges(), Source: cpaAccess, Doc: "kube-proxy reads it as well.",
		}},
	}, "0.0.0.0/0", "::/0")
	denyAllKey    = annotations.RefusedLacking(annotations.Limiting(annotations.Needing(annotations.Flag(azurePrefix+"deny-all-except-load-balancer-source-ranges", groupAccess, "Denies all other clients, including the virtual network, while ranges are given. Without any it is refused: all clients would be admitted.", boolForm("kubernetes-sigs/cloud-provider-azure:pkg/provider/loadbalancer/accesscontrol.go")), annotations.Need{annotations.FieldSet(annotations.FieldRanges), allowedRangesKey.IsSet(), rangesKey.IsSet()}), "false", ""))
	noAccessKey   = annotations.Limiting(annotations.Needing(annotations.Flag(azurePrefix+"disable-load-balancer-nsg-rule", groupAccess, "Writes nothing for the Service into the network security group.", boolForm(cpaHelpers)), annotations.Need{annotations.KindIs(Public), annotations.FieldSet(annotations.FieldRanges), allowedRangesKey.IsSet(), rangesKey.IsSet(), serviceTagsKey.IsSet()}), "false", "")
	sharedRuleKey = annotations.Flag(azurePrefix+"shared-securityrule", groupAccess, "Shares security rules between Services.", annotations.Form[bool]{
		Type: boolType(), Bad: annotations.AsAbsent, Support: annotations.Accepted, Source: cpaDocs,
		Reason: "rules of the same protocol, sources and ports are always shared, as in the official controller today",
	})
)

// checkRanges: ranges of the field and of annotations at once are ambiguous and refused, as by the
// official controller. Load balancers of pods have neither.
func checkRanges(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	given := len(allowedRangesKey.Get(bag))+len(rangesKey.Get(bag)) > 0
	if bag.Setting(settingPool) == poolPodIP || !given || bag.Field(annotations.FieldRanges) == "" || noAccessKey.Get(bag) {
		return nil
	}
	return annotations.Problems{annotations.ProblemOf(annotations.FieldRanges, "", "cannot be set together with "+allowedRangesKey.Name+" or "+rangesKey.Name, "one of them", annotations.Error)}
}

// strictRanges is a list without empty entries and host bits: what the official
// controller takes for invalid must not pass here for something else.
func strictRanges() annotations.Type[[]netip.Prefix] {
	const legal = "a comma separated list of CIDRs without host bits, such as 10.0.0.0/8"
	return annotations.Custom("cidr list", legal, func(raw string) ([]netip.Prefix, error) {
		var out []netip.Prefix
		for _, part := range strings.Split(raw, ",") {
			p, err := netip.ParsePrefix(strings.TrimSpace(part))
			switch {
			case strings.TrimSpace(raw) == "":
				return nil, errors.New("is empty, which would deny all clients")
			case err != nil:
				return nil, fmt.Errorf("has the entry %q, which is no range", strings.TrimSpace(part))
			case p != p.Masked():
				return nil, fmt.Errorf("has the entry %s with host bits, %s is meant", p, p.Masked())
			}
			out = append(out, p)
		}
		return out, nil
	})
}

// serviceTag is the name of one: whether Azure has it, only Azure knows. Refusing the
// others here keeps what cannot be one out of the security group that all Services
// share. Source: learn.microsoft.com/azure/virtual-network/service-tags-overview.
func serviceTag() annotations.Type[string] {
	form := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)
	return annotations.Custom("service tag", "a service tag of Azure, such as AzureCloud.WestEurope; ranges belong to "+azurePrefix+"allowed-ip-ranges", func(raw string) (string, error) {
		if tag := strings.TrimSpace(raw); form.MatchString(tag) {
			return tag, nil
		}
		return "", errors.New("is no service tag")
	})
}

func accessKeys() []annotations.Declaration {
	return []annotations.Declaration{serviceTagsKey, allowedRangesKey, rangesKey, denyAllKey, noAccessKey, sharedRuleKey}
}
