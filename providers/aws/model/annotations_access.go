package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Keys that limit the clients.
var (
	// rangesKey is declared for the docs: nodeports.SourceRanges reads it, since
	// the field of the Service wins over it and then not even a bad value counts.
	rangesKey = annotations.Limiting(&annotations.Key[string]{
		Name: corev1.AnnotationLoadBalancerSourceRangesKey, Names: annotations.NamesNothing(), Group: groupAccess, Example: "10.0.0.0/8,192.0.2.0/24",
		Doc: "Clients that may connect; spec.loadBalancerSourceRanges wins over it.",
		Forms: []annotations.Form[string]{{
			Type: annotations.String().Legally("a comma separated list of IPv4 CIDRs"), Empty: annotations.EmptyAbsent,
			DefaultDoc: "0.0.0.0/0", Source: "kubernetes/cloud-provider:service/helpers/helper.go",
		}},
	}, "0.0.0.0/0")
	groupsKey = annotations.RefusedLacking(annotations.Limiting(&annotations.Key[[]string]{
		Name: lbPrefix + "security-groups", Names: annotations.NamesThe(annotations.ThingSecurityGroup), Group: groupAccess, Example: "sg-0a1b2c,sg-3d4e5f",
		Doc: "Security groups of the load balancer, instead of one of its own; their rules are the user's.",
		Forms: []annotations.Form[[]string]{
			{Kinds: onCLB(), Type: groupList(), DefaultDoc: "ElbSecurityGroup of the cloud config, else a group of its own", Source: cpaMain,
				Doc: "Nodes let in the first group of the list."},
			{Kinds: onNLB(), Type: groupList(), DefaultDoc: "a group of its own with NLBSecurityGroupMode=Managed, else none", Source: cpaMain,
				Doc: "Heard only with NLBSecurityGroupMode=Managed in the cloud config, and only if the load balancer was made with a group, because AWS cannot add the first one later."},
			{Kinds: onLBC(), Type: annotations.ListWith(annotations.ListOptions{Unique: true}, annotations.NonEmpty().Legally("ids of security groups, or values of their tag Name")), Source: lbcGuide,
				Needs:      []annotations.Need{{annotations.Neither("a load balancer with security groups, which "+noGroupKey.Name+" excludes", noGroupKey.Is(true))}},
				DefaultDoc: "a group of its own and the one that all load balancers send from",
				Doc:        "Groups by id or by the tag Name. Not heard if the load balancer was made without groups, because AWS cannot add the first one later."},
		},
	}, ""))
	extraGroupsKey = &annotations.Key[[]string]{
		Name: lbPrefix + "extra-security-groups", Names: annotations.NamesThe(annotations.ThingSecurityGroup), Group: groupAccess, Example: "sg-0a1b2c",
		Doc: "Security groups of the load balancer besides its own.",
		Forms: []annotations.Form[[]string]{
			{Kinds: onCLB(), Type: groupList(), Source: cpaMain},
			{Kinds: onNLB(), Type: annotations.Forbidden[[]string]("list all groups in " + lbPrefix + "security-groups"), Change: annotations.Refused, Source: cpaValidation},
		},
	}
)

func groupList() annotations.Type[[]string] {
	return annotations.ListWith(annotations.ListOptions{Unique: true}, annotations.ID("sg-"))
}

func accessKeys() []annotations.Declaration {
	return []annotations.Declaration{rangesKey, groupsKey, extraGroupsKey}
}
