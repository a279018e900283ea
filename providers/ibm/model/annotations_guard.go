package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Keys of security groups and of private DNS.
var (
	groupsKey = annotations.Limiting(&annotations.Key[[]string]{
		Name: prefix + "vpc-security-group", Names: annotations.NamesThe(annotations.ThingSecurityGroup), Group: groupGuard, Example: "r010-5e2c1f7a-3d9b-4f0e-8a6c-1b2d3e4f5a6b",
		Doc: "Security groups of the load balancer, each by its id or name. They replace all others; their rules are the user's.",
		Forms: []annotations.Form[[]string]{
			{
				Kinds:      []string{ALB, NLB},
				Type:       annotations.ListWith(annotations.ListOptions{Unique: true, AtMost: mostGroups}, annotations.String().Legally("the id or name of a security group of the VPC")),
				DefaultDoc: "the group that the VPC chooses, and a live load balancer keeps its groups", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceManaged,
				Doc: "The groups and rules of the cluster itself are never written.",
			},
			{Kinds: []string{PrivatePath}, Type: annotations.Forbidden[[]string]("private path load balancers have no security groups"), Source: sourceManaged},
		},
	})
	outboundKey = &annotations.Key[[]int32]{
		Name: prefix + "vpc-allow-outbound-traffic", Names: annotations.NamesNothing(), Group: groupGuard, Example: "80,443",
		Doc: "Ports of the Service that nodes of the cluster may reach at the addresses of the load balancer.",
		Forms: []annotations.Form[[]int32]{
			{
				Kinds:      onALB(),
				Type:       annotations.CustomPorts("list of ports", "ports of the Service, separated by commas", parseOutbound),
				DefaultDoc: "none", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceOutbound,
				Doc: "Each address and port has a rule in the security group kube-<clusterID>, which IBM's managed clusters have. Rules that are not the Service's stay as they are.",
			},
			{Kinds: onNetwork(), Type: annotations.Forbidden[[]int32]("rules are created for addresses of application load balancers only"), Source: sourceOutbound},
		},
	}
	dnsInstanceKey = dnsKey("vpc-private-dns-instance-crn", annotations.NamesThe(annotations.ThingHostname), "DNS instance in which a private load balancer is registered, by its CRN.",
		"crn:v1:bluemix:public:dns-svcs:global:a/1234:5678::")
	dnsZoneKey = dnsKey("vpc-private-dns-zone-id", annotations.NamesThe(annotations.ThingHostname), "Zone of the DNS instance, by its id.", "example.com:2d0f862b-67cc-41f3-b6a2-59860d0aa90e")
)

func dnsKey(name string, names annotations.Names, doc, example string) *annotations.Key[string] {
	return &annotations.Key[string]{
		Name: prefix + name, Names: names, Group: groupGuard, Example: example, Doc: doc,
		Forms: []annotations.Form[string]{
			{
				Kinds: onALB(), Type: annotations.String(), DefaultDoc: "not registered, and a live load balancer keeps its zone", Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: sourceManaged,
				Doc: "A load balancer has both keys or none.", Needs: []annotations.Need{{ipTypeKey.Is(private)}},
			},
			{Kinds: onNetwork(), Type: annotations.Forbidden[string]("only application load balancers are registered in a zone"), Source: sourceManaged},
		},
	}
}

func guardKeys() []annotations.Declaration {
	return []annotations.Declaration{groupsKey, outboundKey, dnsInstanceKey, dnsZoneKey, annotations.SourceRanges(groupGuard, sourceManaged)}
}

// parseOutbound returns ports, which are ports of the Service.
func parseOutbound(raw string, ports []corev1.ServicePort) ([]int32, error) {
	var out []int32
	for item := range strings.SplitSeq(strings.ReplaceAll(raw, " ", ""), ",") {
		n, err := strconv.ParseUint(item, 10, 16)
		port := int32(n)
		switch {
		case err != nil:
			return nil, fmt.Errorf("has %q, which is not a port", item)
		case slices.Contains(out, port):
			return nil, fmt.Errorf("has the port %d twice", port)
		case !slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Port == port }):
			return nil, fmt.Errorf("has %d, which is not a port of the Service", port)
		}
		out = append(out, port)
	}
	return out, nil
}

// checkDNS refuses one of the keys of private DNS without the other.
func checkDNS(_ string, b *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	if b.Refused(dnsInstanceKey) || b.Refused(dnsZoneKey) {
		return nil
	}
	instance, zone := dnsInstanceKey.Get(b), dnsZoneKey.Get(b)
	switch {
	case instance != "" && zone == "":
		return annotations.Problems{dnsInstanceKey.Refusal(b, "has no zone beside it", "together with "+dnsZoneKey.Name)}
	case instance == "" && zone != "":
		return annotations.Problems{dnsZoneKey.Refusal(b, "has no instance beside it", "together with "+dnsInstanceKey.Name)}
	}
	return nil
}

// laterKeys are keys that are not served.
func laterKeys() []annotations.Declaration {
	later := func(name, group, doc, example, reason string) *annotations.Key[string] {
		k := annotations.Text(prefix+name, group, doc, example, annotations.Form[string]{Support: annotations.Later, Reason: reason, Source: sourceManaged})
		k.Names = annotations.NamesNothing()
		return k
	}
	return []annotations.Declaration{
		later("dns-name", groupGuard, "Domain of the cluster in which the address of the load balancer is registered.", "web.eu-de.containers.appdomain.cloud", "domains are kept by the service that manages IBM's clusters, not by the VPC; register the address with ibmcloud ks ingress domain update"),
		later("vpc-service-crn", groupKind, "Service that IBM's own load balancers of the feature service-dnlb are registered for.", "crn:v1:bluemix:public", "the VPC API has no such load balancer for accounts of users"),
	}
}
