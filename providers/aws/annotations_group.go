package aws

import (
	"errors"
	"regexp"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// groupKey puts several Services on one load balancer.
var groupKey = &annotations.Key[string]{Name: tagGroup, Group: groupKind, Doc: "Puts the Service on one load balancer with all others of the group.", Example: "shop", Forms: []annotations.Form[string]{{
	Type: annotations.NonEmpty().Checked(groupText).Legally("a name as Kubernetes has them, or namespace/name for a group of another namespace"), Change: annotations.Replaced,
	DefaultDoc: "a load balancer of its own",
	Doc: "Other kinds than nlb-lbc refuse it. Each Service has its own listeners, target groups and rules. What the load balancer itself is like is the say of the oldest member; others are told what of theirs does not hold. " +
		"A port that two members want goes to who has it, else to the older one. A group of another namespace needs a policy that names it under load-balancer. " +
		"After a change the Service is moved: its new load balancer serves before it leaves the old one.",
	Source: "github.com/berth-lb/berth:docs/adr/0011-what-groups-taught.md",
}}}

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
	value, from, said := groupKey.Lookup(bag)
	if !said || value == "" || kind == LBC {
		return nil
	}
	return refuse(from, "is possible with load balancers of kind "+LBC+" only, and this Service asks for one of kind "+kind, "the class "+classLBC+", or no "+groupKey.Name)
}

func groupKeys() []annotations.Declaration { return []annotations.Declaration{groupKey} }
