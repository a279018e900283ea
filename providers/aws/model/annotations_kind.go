package model

import (
	"net/netip"

	"github.com/berth-lb/berth/annotations"
)

// Keys that choose the kind of load balancer, where it stands, and what it is called by.
var (
	typeKey = &annotations.Key[string]{
		Name: lbPrefix + "type", Names: annotations.NamesNothing(), Group: groupKind, Example: "nlb",
		Doc: "Chooses the kind of load balancer.",
		Forms: []annotations.Form[string]{{
			Type:    annotations.String().Legally(`"nlb" for a Network Load Balancer, any other text for a Classic one`),
			Default: CLB, DefaultDoc: "a Classic Load Balancer", Change: annotations.Replaced,
			Doc: `"external" (with ` + lbPrefix + `nlb-target-type) and "nlb-ip" ask for the kind nlb-lbc, as the class service.k8s.aws/nlb does, which wins over this key. ` +
				"After a change the new load balancer is made first and the old one removed after the status has named the new one; the official controller refuses the change.",
			Source: cpaBalancer,
		}},
	}
	internalKey = &annotations.Key[bool]{
		Name: lbPrefix + "internal", Group: groupKind, Example: "true", Exposes: annotations.ToInternet,
		Doc: "Gives the load balancer private addresses only.",
		Forms: []annotations.Form[bool]{
			{Kinds: onCPA(), Type: annotations.BoolUnless("false"), Change: annotations.IgnoredAfterCreation,
				Doc: `Any text but "" and "false" means internal, also "0.0.0.0/0", "False" and "no".`, Source: cpaMain},
			{Kinds: onLBC(), Type: annotations.Bool(), Change: annotations.IgnoredAfterCreation, Source: lbcGuide,
				DefaultDoc: "what " + lbPrefix + "scheme says", Doc: "Counts only without " + lbPrefix + "scheme."},
		},
	}
	schemeKey = &annotations.Key[string]{
		Name: lbPrefix + "scheme", Group: groupKind, Example: SchemeInternal, Exposes: annotations.ToInternet, Doc: "Chooses public or private addresses.",
		Forms: []annotations.Form[string]{
			{Kinds: onCPA(), Type: annotations.Enum(SchemeInternal, schemePublic), Bad: annotations.UseFallback, Change: annotations.IgnoredAfterCreation, Source: lbcGuide,
				DefaultDoc: "what " + lbPrefix + "internal says",
				Doc: "A key of the AWS Load Balancer Controller, which the official controller does not read: a load balancer that is asked to be internal " +
					"would be reachable from the internet. It must not contradict " + lbPrefix + "internal."},
			{Kinds: onLBC(), Type: annotations.Enum(SchemeInternal, schemePublic), Change: annotations.IgnoredAfterCreation, Source: lbcGuide,
				Or: []string{"DefaultScheme"}, Empty: annotations.EmptyParsed, DefaultDoc: SchemeInternal,
				Doc: "A live load balancer keeps its scheme. Wins over " + lbPrefix + "internal. The official controller deletes the load balancer after a change and makes another one, with another name and without a warning."},
		},
	}
	subnetsKey = &annotations.Key[[]string]{
		Name: lbPrefix + "subnets", Names: annotations.NamesThe(annotations.ThingSubnet), Group: groupSubnets, Example: "subnet-0a1b2c,public-b",
		Doc: "Subnets of the load balancer, by id or by the tag Name.",
		Forms: []annotations.Form[[]string]{
			{Kinds: onCLB(), Type: subnetList(), DefaultDoc: "discovered by tags", Change: annotations.Brief, Source: cpaMain},
			{Kinds: onNLB(), Type: subnetList(), DefaultDoc: "discovered by tags", Change: annotations.Brief, Source: cpaMain,
				Doc: "A live load balancer is moved; without the key it stays where it is. The official controller ignores a change."},
			{Kinds: onLBC(), Type: subnetMentions(), DefaultDoc: "those of an existing load balancer, else discovered by tags and routes", Change: annotations.Brief, Source: lbcGuide,
				Doc: "Each mention of a name takes one subnet of it: first the subnets of an existing load balancer, then by id. A name that is mentioned more often than there are subnets of it is refused."},
		},
	}
	eipKey = &annotations.Key[[]string]{
		Name: lbPrefix + "eip-allocations", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupSubnets, Example: "eipalloc-0a1b,eipalloc-2c3d",
		Doc: "Elastic IP addresses, one for each subnet, in the order of the subnets.",
		Forms: []annotations.Form[[]string]{
			{Kinds: onNLB(), Type: annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, annotations.ID("eipalloc-")),
				DefaultDoc: "AWS assigns addresses", Change: annotations.IgnoredAfterCreation, Source: cpaBalancer,
				Doc: "After creation only subnets that are added get theirs. Blanks around the ids are cut; the official controller sends them along, which AWS refuses."},
			{Kinds: onLBC(), Type: annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, annotations.ID("eipalloc-")),
				DefaultDoc: "AWS assigns addresses", Change: annotations.IgnoredAfterCreation, Source: lbcGuide,
				Doc: "In the order of the subnets, which without " + lbPrefix + "subnets is that of their ids. After creation only subnets that are added get theirs."},
		},
	}
	privateIPKey = &annotations.Key[[]netip.Addr]{
		Name: lbPrefix + "private-ipv4-addresses", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupSubnets, Example: "10.0.1.10,10.0.2.10",
		Doc: "Private addresses, one for each subnet, in the order of the subnets.",
		Forms: []annotations.Form[[]netip.Addr]{
			{Kinds: onNLB(), Type: annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, annotations.IP(annotations.IPv4)),
				DefaultDoc: "AWS assigns addresses", Change: annotations.IgnoredAfterCreation, Source: cpaBalancer,
				Doc: "After creation only subnets that are added get theirs. Blanks around the addresses are cut; the official controller sends them along, which AWS refuses."},
			{Kinds: onLBC(), Type: annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, annotations.IP(annotations.IPv4)),
				DefaultDoc: "AWS assigns addresses", Change: annotations.IgnoredAfterCreation, Source: lbcGuide,
				Doc: "In any order: each is used in the subnet whose range contains it. After creation only added subnets get theirs."},
		},
	}
	tagsKey = &annotations.Key[map[string]string]{
		Name: lbPrefix + "additional-resource-tags", Names: annotations.NamesNothing(), Group: groupSettings, Example: "team=shop,stage=prod",
		Doc: "Tags for everything that is made for the Service.",
		Forms: []annotations.Form[map[string]string]{
			{Kinds: onCLB(), Type: annotations.MapLenient(), Source: cpaBalancer,
				Doc: "Tags are added to the load balancer and never removed; the security group keeps those of its creation."},
			{Kinds: onNLB(), Type: annotations.MapLenient(), Source: cpaBalancer,
				Doc: "Tags are added to the load balancer and never removed; target groups, listeners and security groups keep those of their creation."},
			{Kinds: onLBC(), Type: annotations.MapStrict(), Source: lbcGuide,
				Doc: "DefaultTags of the cloud config prevail over it. Tags are added to existing ones and, unlike with the official controller, never removed; security groups that several Services share keep the tags of their creation."},
		},
	}
	nodeLabelsKey = &annotations.Key[map[string]string]{
		Name: lbPrefix + "target-node-labels", Names: annotations.NamesNothing(), Group: groupBackends, Example: "role=edge,ssd",
		Doc: "Labels that a node must have to be a target; a key without a value must only exist.",
		Forms: []annotations.Form[map[string]string]{
			{Kinds: onCPA(), Type: annotations.MapLenient(), DefaultDoc: "every eligible node", Source: cpaBalancer},
			{Kinds: onLBC(), Type: annotations.MapStrict(), DefaultDoc: "every eligible node", Source: lbcGuide,
				Doc: "Values must be equal, the empty one too. Without effect where pods are targets."},
		},
	}
)

func subnetList() annotations.Type[[]string] {
	return subnetsWith(annotations.ListOptions{AtLeast: 1, Unique: true})
}

// subnetMentions is a list in which a name counts as often as it is mentioned.
func subnetMentions() annotations.Type[[]string] {
	return subnetsWith(annotations.ListOptions{AtLeast: 1})
}

func subnetsWith(o annotations.ListOptions) annotations.Type[[]string] {
	return annotations.ListWith(o, annotations.NonEmpty().Legally("a subnet id or the value of a subnet's tag Name"))
}

func kindKeys() []annotations.Declaration {
	return []annotations.Declaration{typeKey, internalKey, schemeKey, subnetsKey, eipKey, privateIPKey, tagsKey, nodeLabelsKey}
}
