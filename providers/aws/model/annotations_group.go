package model

import (
	"errors"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// groupKey puts several Services on one load balancer.
var groupKey = &annotations.Key[string]{Name: TagGroup, Names: annotations.NamesThe(annotations.ThingLoadBalancer), Group: groupKind, Doc: "Puts the Service on one load balancer with all others of the group.", Example: "shop", Forms: []annotations.Form[string]{{
	Type: annotations.NonEmpty().Checked(groupText).Legally("a name as Kubernetes has them, or namespace/name for a group of another namespace"), Change: annotations.Replaced,
	DefaultDoc: "a load balancer of its own",
	Doc: "Other kinds than nlb-lbc refuse it. Each Service has its own listeners, target groups and rules. The oldest member decides about settings of the load balancer itself; a warning on the other members names each setting of theirs that does not apply. " +
		"If two members request one port, the member that already has it keeps it; otherwise the older one gets it. A group of another namespace needs a policy that names it under load-balancer. " +
		"After a change the Service is moved: its new load balancer serves before it leaves the old one.",
	Source: "github.com/berth-lb/berth:docs/adr/0011-what-groups-taught.md",
}}}

// adoptKey makes the Service use an existing load balancer that Berth did not create.
var adoptKey = &annotations.Key[string]{Name: tagAdopted, Names: annotations.NamesThe(annotations.ThingLoadBalancer), Group: groupKind, Doc: "Uses an existing Network Load Balancer, by its name or ARN, instead of one of its own.", Example: "edge", Forms: []annotations.Form[string]{{
	Type: annotations.NonEmpty().Checked(checkAdoptable).Legally("the name or the ARN of a Network Load Balancer"), Change: annotations.Replaced,
	DefaultDoc: "a load balancer of its own",
	Doc: "Other kinds than nlb-lbc refuse it. The listeners on the Service's ports are the Service's own, with target groups and targets; the load balancer itself, its settings, tags, security groups and all other listeners stay as they are, and it is never deleted. " +
		"Ports that others have there are refused. It must be of the cluster's VPC, and made by no controller of load balancers. A policy says under names.load-balancer which names may stand here. " +
		"After a change the Service is moved: its new load balancer serves before it leaves the old one.",
	Source: "github.com/berth-lb/berth:docs/adr/0011-what-groups-taught.md",
}}}

// checkAdoptable checks the form of a name or ARN.
func checkAdoptable(s string) error {
	if !strings.HasPrefix(s, "arn:") {
		return balancerName(s)
	}
	if !regexp.MustCompile(`^arn:[a-z-]+:elasticloadbalancing:[a-z0-9-]+:[0-9]+:loadbalancer/net/[0-9A-Za-z-]+/[0-9a-z]+$`).MatchString(s) {
		return errors.New("is no ARN of a Network Load Balancer")
	}
	return nil
}

// groupText checks the form of a group.
func groupText(s string) error {
	if !regexp.MustCompile(`^([a-z0-9]([-a-z0-9]*[a-z0-9])?/)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`).MatchString(s) {
		return errors.New("is no name of a group")
	}
	return nil
}

// checkGroup refuses a group where load balancers are for one Service alone: it would be
// served at another address than the user thinks.
func checkGroup(kind string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	var out annotations.Problems
	for _, key := range []*annotations.Key[string]{groupKey, adoptKey} {
		if value, from, said := key.Lookup(bag); said && value != "" && kind != LBC {
			out = append(out, refuseValue(from, "is possible with load balancers of kind "+LBC+" only, and this Service asks for one of kind "+kind, "the class "+classLBC+", or no "+key.Name)...)
		}
	}
	_, from, both := adoptKey.Lookup(bag)
	if _, _, said := groupKey.Lookup(bag); said && both {
		out = append(out, refuseValue(from, "contradicts "+groupKey.Name+": a Service is on one load balancer", "one of the two")...)
	}
	return out
}

func groupKeys() []annotations.Declaration { return []annotations.Declaration{groupKey, adoptKey} }
