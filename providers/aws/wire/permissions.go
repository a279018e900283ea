package wire

import (
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
)

// prefixListMark begins the ids of prefix lists, which stand in Permission.CIDR like a
// range: Berth never wants one, but a user may have added one.
const prefixListMark = "pl-"

// rulesOf takes the permissions of a group apart into rules with one source
// each. EC2 shows rules with equal protocol and ports as one permission.
func rulesOf(list []ec2types.IpPermission) []model.FoundRule {
	var out []model.FoundRule
	for _, p := range list {
		base := model.Normal(model.Permission{
			Protocol: awssdk.ToString(p.IpProtocol),
			FromPort: awssdk.ToInt32(p.FromPort),
			ToPort:   awssdk.ToInt32(p.ToPort),
		})
		add := func(cidr, group, description *string) {
			r := model.FoundRule{Permission: base, Description: awssdk.ToString(description)}
			r.CIDR = awssdk.ToString(cidr)
			if group != nil {
				r.Source = stack.RefID(*group)
			}
			out = append(out, r)
		}
		for _, r := range p.IpRanges {
			add(r.CidrIp, nil, r.Description)
		}
		for _, r := range p.Ipv6Ranges {
			add(r.CidrIpv6, nil, r.Description)
		}
		for _, r := range p.PrefixListIds {
			add(r.PrefixListId, nil, r.Description)
		}
		for _, g := range p.UserIdGroupPairs {
			add(nil, g.GroupId, g.Description)
		}
	}
	slices.SortFunc(out, model.FoundRule.Compare)
	return out
}

// wireOf writes rules with literal sources for a call, each as a permission of its own.
// Descriptions are sent with grants only: a revocation that names a description would
// have to name exactly the existing one.
func wireOf(rules []model.FoundRule) []ec2types.IpPermission {
	out := make([]ec2types.IpPermission, 0, len(rules))
	for _, r := range rules {
		p := ec2types.IpPermission{IpProtocol: awssdk.String(r.Protocol)}
		if r.Protocol != "-1" {
			p.FromPort, p.ToPort = awssdk.Int32(r.FromPort), awssdk.Int32(r.ToPort)
		}
		var description *string
		if r.Description != "" {
			description = awssdk.String(r.Description)
		}
		switch {
		case r.CIDR == "":
			p.UserIdGroupPairs = []ec2types.UserIdGroupPair{{GroupId: awssdk.String(r.Source.ID), Description: description}}
		case strings.HasPrefix(r.CIDR, prefixListMark):
			p.PrefixListIds = []ec2types.PrefixListId{{PrefixListId: awssdk.String(r.CIDR), Description: description}}
		case strings.Contains(r.CIDR, ":"):
			p.Ipv6Ranges = []ec2types.Ipv6Range{{CidrIpv6: awssdk.String(r.CIDR), Description: description}}
		default:
			p.IpRanges = []ec2types.IpRange{{CidrIp: awssdk.String(r.CIDR), Description: description}}
		}
		out = append(out, p)
	}
	return out
}

// sourceText is the source of a rule as keys and identifiers write it.
func sourceText(p model.Permission) string {
	if p.CIDR != "" {
		return p.CIDR
	}
	return p.Source.ID
}
