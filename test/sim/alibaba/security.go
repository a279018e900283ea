package alibaba

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// Security groups of the ECS API. Source: API of ECS 2014-05-26.

func (v *visit) securityGroup() (rest.Object, error) {
	g, ok := v.State.Get(securityGroups, v.text("SecurityGroupId"))
	if !ok {
		return nil, refuseMissing("SecurityGroupId", v.text("SecurityGroupId"))
	}
	return g, nil
}

func listSecurityGroups(v *visit) (any, error) {
	all := v.State.All(securityGroups, func(o rest.Object) bool { return v.isAsked(o, v.members("SecurityGroupIds")) })
	answer, err := v.pageNet("all", all, func(o rest.Object) rest.Object {
		tags := []any{}
		for _, t := range o.Objects("Tags") {
			tags = append(tags, rest.Object{"TagKey": t.Text("Key"), "TagValue": t.Text("Value")})
		}
		return o.Without("id", "rules").With(rest.Object{"Tags": rest.Object{"Tag": tags}})
	})
	if err != nil {
		return nil, err
	}
	page, _ := rest.AsObject(answer)
	return page.Without("all").With(rest.Object{"SecurityGroups": rest.Object{"SecurityGroup": page["all"]}}), nil
}

func createSecurityGroup(v *visit) (any, error) {
	if v.again() {
		return nil, nil
	}
	id := v.State.id("sg-bp1")
	v.State.Put(securityGroups, rest.Object{
		"id": id, "SecurityGroupId": id, "SecurityGroupName": v.text("SecurityGroupName"), "Description": v.text("Description"), "VpcId": v.text("VpcId"), "SecurityGroupType": standardText(v.text("SecurityGroupType"), "normal"),
		"ResourceGroupId": standardText(v.text("ResourceGroupId"), "rg-acfdefault"), "Tags": v.givenTags(nil), "rules": []any{}, "CreationTime": v.Time.UTC().Format(formNet),
	})
	return v.answerOnce(answerDone(rest.Object{"SecurityGroupId": id})), nil
}

func deleteSecurityGroup(v *visit) (any, error) {
	g, err := v.securityGroup()
	if err != nil {
		return nil, err
	}
	for _, lb := range v.State.All(nets, nil) {
		if slices.Contains(lb.Texts("SecurityGroupIds"), g.Text("id")) {
			return nil, rest.Refuse(http.StatusForbidden, "DependencyViolation", "The load balancer %s has joined the security group.", lb.Text("id"))
		}
	}
	v.State.Drop(securityGroups, g.Text("id"))
	return answerDone(nil), nil
}

func setSecurityGroup(v *visit) (any, error) {
	g, err := v.securityGroup()
	if err != nil {
		return nil, err
	}
	v.State.Put(securityGroups, g.With(rest.Object{"SecurityGroupName": v.text("SecurityGroupName"), "Description": v.text("Description")}))
	return answerDone(nil), nil
}

func getSecurityGroup(v *visit) (any, error) {
	g, err := v.securityGroup()
	if err != nil {
		return nil, err
	}
	return answerDone(g.Without("id", "rules", "Tags", "CreationTime", "ResourceGroupId", "SecurityGroupType")).With(rest.Object{"Permissions": rest.Object{"Permission": g.List("rules")}}), nil
}

func addRules(v *visit) (any, error) {
	g, err := v.securityGroup()
	if err != nil {
		return nil, err
	}
	rules := append([]any{}, g.List("rules")...)
	for n := 1; v.query.Has("Permissions." + strconv.Itoa(n) + ".Policy"); n++ {
		at := "Permissions." + strconv.Itoa(n) + "."
		policy := v.text(at + "Policy")
		if !strings.EqualFold(policy, "accept") && !strings.EqualFold(policy, "drop") {
			return nil, refuseInvalid("Policy", "%q is neither accept nor drop", policy)
		}
		rules = append(rules, rest.Object{
			"SecurityGroupRuleId": v.State.id("sgr-bp1"), "Policy": strings.ToUpper(policy[:1]) + strings.ToLower(policy[1:]), "IpProtocol": v.text(at + "IpProtocol"), "PortRange": v.text(at + "PortRange"),
			"SourceCidrIp": v.text(at + "SourceCidrIp"), "Ipv6SourceCidrIp": v.text(at + "Ipv6SourceCidrIp"), "Priority": v.text(at + "Priority"), "Description": v.text(at + "Description"), "Direction": "ingress",
		})
	}
	if len(rules) > v.cloud.opt.Limits.Rules {
		return nil, rest.Refuse(http.StatusForbidden, "AuthorizationLimitExceed", "The limit of authorization records in the security group is reached.")
	}
	v.State.Put(securityGroups, g.With(rest.Object{"rules": rules}))
	return answerDone(nil), nil
}

func removeRules(v *visit) (any, error) {
	g, err := v.securityGroup()
	if err != nil {
		return nil, err
	}
	gone := v.members("SecurityGroupRuleId")
	left := []any{}
	for _, r := range g.Objects("rules") {
		if !slices.Contains(gone, r.Text("SecurityGroupRuleId")) {
			left = append(left, r)
		}
	}
	v.State.Put(securityGroups, g.With(rest.Object{"rules": left}))
	return answerDone(nil), nil
}
