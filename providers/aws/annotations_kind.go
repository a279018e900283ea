package aws

import (
	"net/netip"

	"github.com/berth-lb/berth/annotations"
)

// Keys that choose the kind of load balancer, where it stands, and what it is called by.
var (
	typeKey = &annotations.Key[string]{
		Name: lbPrefix + "type", Group: groupKind, Example: "nlb",
		Doc: "Chooses the kind of load balancer.",
		Forms: []annotations.Form[string]{{
			Type:    annotations.String().Legally(`"nlb" for a Network Load Balancer, any other text for a Classic one`),
			Default: CLB, DefaultDoc: "a Classic Load Balancer", Change: annotations.Replaced,
			Doc: `"external" and "nlb-ip" leave the Service to the AWS Load Balancer Controller. ` +
				"After a change the new load balancer is made first and the old one removed after the status has named the new one; the official controller refuses the change.",
			Source: cpaBalancer,
		}},
	}
	internalKey = &annotations.Key[bool]{
		Name: lbPrefix + "internal", Group: groupKind, Example: "true",
		Doc: "Gives the load balancer private addresses only.",
		Forms: []annotations.Form[bool]{{
			Type: annotations.BoolUnless("false"), Change: annotations.IgnoredAfterCreation,
			Doc: `Any text but "" and "false" means internal, also "0.0.0.0/0", "False" and "no".`, Source: cpaMain,
		}},
	}
	subnetsKey = &annotations.Key[[]string]{
		Name: lbPrefix + "subnets", Group: groupSubnets, Example: "subnet-0a1b2c,public-b",
		Doc: "Subnets of the load balancer, by id or by the tag Name.",
		Forms: []annotations.Form[[]string]{
			{Kinds: onCLB(), Type: subnetList(), DefaultDoc: "discovered by tags", Change: annotations.Brief, Source: cpaMain},
			{Kinds: onNLB(), Type: subnetList(), DefaultDoc: "discovered by tags", Change: annotations.IgnoredAfterCreation, Source: cpaMain},
		},
	}
	eipKey = &annotations.Key[[]string]{
		Name: lbPrefix + "eip-allocations", Group: groupSubnets, Example: "eipalloc-0a1b,eipalloc-2c3d",
		Doc: "Elastic IP addresses, one for each subnet, in the order of the subnets.",
		Forms: []annotations.Form[[]string]{{
			Kinds: onNLB(), Type: annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, annotations.ID("eipalloc-")),
			DefaultDoc: "AWS assigns addresses", Change: annotations.IgnoredAfterCreation, Source: cpaBalancer,
			Doc: "Blanks around the ids are cut; the official controller sends them along, which AWS refuses.",
		}},
	}
	privateIPKey = &annotations.Key[[]netip.Addr]{
		Name: lbPrefix + "private-ipv4-addresses", Group: groupSubnets, Example: "10.0.1.10,10.0.2.10",
		Doc: "Private addresses, one for each subnet, in the order of the subnets.",
		Forms: []annotations.Form[[]netip.Addr]{{
			Kinds: onNLB(), Type: annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, annotations.IP(annotations.IPv4)),
			DefaultDoc: "AWS assigns addresses", Change: annotations.IgnoredAfterCreation, Source: cpaBalancer,
			Doc: "Blanks around the addresses are cut; the official controller sends them along, which AWS refuses.",
		}},
	}
	tagsKey = &annotations.Key[map[string]string]{
		Name: lbPrefix + "additional-resource-tags", Group: groupSettings, Example: "team=shop,stage=prod",
		Doc: "Tags for everything that is made for the Service.",
		Forms: []annotations.Form[map[string]string]{
			{Kinds: onCLB(), Type: annotations.MapLenient(), Source: cpaBalancer,
				Doc: "Tags are added to the load balancer and never removed; the security group keeps those of its creation."},
			{Kinds: onNLB(), Type: annotations.MapLenient(), Change: annotations.IgnoredAfterCreation, Source: cpaBalancer},
		},
	}
	nodeLabelsKey = &annotations.Key[map[string]string]{
		Name: lbPrefix + "target-node-labels", Group: groupBackends, Example: "role=edge,ssd",
		Doc: "Labels that a node must have to be a target; a key without a value must only exist.",
		Forms: []annotations.Form[map[string]string]{{
			Type: annotations.MapLenient(), DefaultDoc: "every eligible node", Source: cpaBalancer,
		}},
	}
)

func subnetList() annotations.Type[[]string] {
	one := annotations.NonEmpty().Legally("a subnet id or the value of a subnet's tag Name")
	return annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, one)
}

func kindKeys() []annotations.Declaration {
	return []annotations.Declaration{typeKey, internalKey, subnetsKey, eipKey, privateIPKey, tagsKey, nodeLabelsKey}
}
