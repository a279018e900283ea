package aws

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/iam"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Names of load balancing in policies and ARNs.
const (
	balancing  = "elasticloadbalancing"
	linkedRole = "arn:aws:iam::%s:role/aws-service-role/elasticloadbalancing.amazonaws.com/AWSServiceRoleForElasticLoadBalancing"
)

// SetRole has every call of EC2 and of load balancing judged by a policy; nil lets
// all of them be done.
func (c *Cloud) SetRole(p *iam.Policy) {
	c.running.Lock()
	defer c.running.Unlock()
	c.role = p
}

// authorize refuses a call that the role does not allow. The first load balancer of
// an account also makes the role that the service acts with.
func (c *Cloud) authorize(service string, r *query.Request, form url.Values) error {
	if c.role == nil || service == "sts" {
		return nil
	}
	for _, ask := range c.asks(service, r.Action, form) {
		if !c.role.Allows(ask) {
			return c.denied(service, ask)
		}
	}
	return nil
}

// asks returns all permissions that the role must allow for a call.
// Source: AWS Service Authorization Reference, Amazon EC2, Elastic Load Balancing and
// Elastic Load Balancing V2: resource types, condition keys and dependent actions.
func (c *Cloud) asks(service, action string, form url.Values) []iam.Ask {
	prefix := map[string]string{"ec2": "ec2:"}[service]
	if prefix == "" {
		prefix = balancing + ":"
	}
	if strings.HasPrefix(action, "Describe") || strings.HasPrefix(action, "Get") {
		return []iam.Ask{{Action: prefix + action, Resource: "*"}}
	}
	if service == "iam" {
		return []iam.Ask{{Action: "iam:" + action, Resource: form.Get("PolicySourceArn")}}
	}
	requested := requestTags(service, form)
	var out []iam.Ask
	for _, resource := range c.touched(service, action, form) {
		keys := maps.Clone(requested)
		tags, there := c.tagsOf(resource)
		if !there { // the service says so
			continue
		}
		for k, v := range tags {
			keys["aws:ResourceTag/"+k] = v
		}
		out = append(out, iam.Ask{Action: prefix + action, Resource: resource, Keys: keys})
	}
	if strings.HasPrefix(action, "Create") && action != "CreateTags" && len(requested) > 0 {
		keys, tag := maps.Clone(requested), map[bool]string{true: "CreateTags", false: "AddTags"}[service == "ec2"]
		keys[prefix+"CreateAction"] = action
		out = append(out, iam.Ask{Action: prefix + tag, Resource: c.madeBy(service, action, form), Keys: keys})
	}
	if action == "CreateLoadBalancer" {
		out = append(out, c.first()...)
	}
	return out
}

// first returns the additional permissions for the first load balancer of an account: the
// service creates its service-linked role, and reads the network on behalf of the caller.
// Sources: Elastic Load Balancing user guide, service-linked role, permissions to
// create it; kubernetes-sigs/aws-load-balancer-controller:docs/install/iam_policy.json.
func (c *Cloud) first() []iam.Ask {
	var out []iam.Ask
	if !c.linked {
		out = append(out, iam.Ask{
			Action: "iam:CreateServiceLinkedRole", Resource: fmt.Sprintf(linkedRole, c.account),
			Keys: map[string]string{"iam:AWSServiceName": balancing + ".amazonaws.com"},
		})
	}
	for _, look := range []string{"AccountAttributes", "Addresses", "InternetGateways", "SecurityGroups", "Subnets"} {
		out = append(out, iam.Ask{Action: "ec2:Describe" + look, Resource: "*"})
	}
	return out
}

// touched are the ARNs of what a writing call is about. What is about to be made
// carries no tags yet.
func (c *Cloud) touched(service, action string, form url.Values) []string {
	var out []string
	if service == "ec2" {
		for _, name := range []string{"GroupId", "ResourceId", "InstanceId", "SubnetId", "VpcId", "AllocationId", "NetworkInterfaceId"} {
			for _, id := range listParam(form, name, "") {
				out = append(out, c.arn("ec2", kindOf(id)+"/"+id))
			}
		}
		if strings.HasPrefix(action, "Create") && action != "CreateTags" {
			out = append(out, c.madeBy(service, action, form))
		}
		return orAll(out)
	}
	if made := action == "CreateLoadBalancer" || action == "CreateTargetGroup"; made {
		return []string{c.madeBy(service, action, form)}
	}
	for _, name := range []string{"LoadBalancerArn", "TargetGroupArn", "ListenerArn", "ResourceArns"} {
		out = append(out, listParam(form, name, ".member")...)
	}
	for _, name := range []string{"LoadBalancerName", "LoadBalancerNames"} {
		for _, lb := range listParam(form, name, ".member") {
			out = append(out, c.arn(balancing, "loadbalancer/"+lb))
		}
	}
	return orAll(out)
}

func orAll(arns []string) []string {
	if len(arns) == 0 {
		return []string{"*"}
	}
	return arns
}

// madeBy is the ARN of what a creating call makes.
func (c *Cloud) madeBy(service, action string, form url.Values) string {
	kind := strings.ToLower(strings.TrimPrefix(action, "Create"))
	if service == "ec2" {
		kind = map[string]string{"securitygroup": "security-group"}[kind]
		return c.arn("ec2", kind+"/*")
	}
	if service == "elb" {
		return c.arn(balancing, "loadbalancer/"+form.Get("LoadBalancerName")+"*")
	}
	if of := map[string]string{"loadbalancer": "loadbalancer/net/"}[kind]; of != "" {
		kind = of
	} else {
		kind += "/"
	}
	return c.arn(balancing, kind+form.Get("Name")+"/*")
}

func (c *Cloud) arn(service, resource string) string {
	return "arn:aws:" + service + ":" + c.region + ":" + c.account + ":" + resource
}

// kindOf is the word of an ARN for an id of EC2.
func kindOf(id string) string {
	prefix, _, _ := strings.Cut(id, "-")
	if kind := map[string]string{"sg": "security-group", "i": "instance", "eni": "network-interface", "eipalloc": "elastic-ip", "rtb": "route-table"}[prefix]; kind != "" {
		return kind
	}
	return prefix
}

// listParam returns the values of a parameter, given alone or as a list.
func listParam(form url.Values, name, between string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(form)) {
		if key == name || strings.HasPrefix(key, name+between+".") {
			out = append(out, form.Get(key))
		}
	}
	return out
}

// requestTags are the tags in a call as condition keys.
func requestTags(service string, form url.Values) map[string]string {
	keys := map[string]string{}
	for name := range form {
		inTags := strings.HasPrefix(name, "Tags.member.") || (service == "ec2" && (strings.HasPrefix(name, "TagSpecification.") || strings.HasPrefix(name, "Tag.")))
		if rest, isKey := strings.CutSuffix(name, ".Key"); inTags && isKey {
			keys["aws:RequestTag/"+form.Get(name)] = form.Get(rest + ".Value")
		}
	}
	return keys
}

// tagsOf returns the tags of a resource by its ARN, none of a resource not created yet; and
// whether it exists or is about to.
func (c *Cloud) tagsOf(arn string) (map[string]string, bool) {
	_, last, _ := strings.Cut(arn, ":"+c.account+":")
	switch parts := strings.Split(last, "/"); {
	case strings.HasSuffix(arn, "*"):
		return nil, true
	case strings.HasPrefix(arn, "arn:aws:ec2:"):
		return c.EC2.TagsOf(parts[len(parts)-1])
	case len(parts) == 2 && parts[0] == "loadbalancer":
		return c.ELB.TagsOf(parts[1])
	}
	return c.ELBV2.TagsOf(arn)
}

// denied is the refusal of each service. EC2 adds a text that is another one in
// every answer. Sources: EC2 API reference, common errors, UnauthorizedOperation; AWS
// STS DecodeAuthorizationMessage; kubernetes-sigs/aws-load-balancer-controller issue 1312.
func (c *Cloud) denied(service string, a iam.Ask) error {
	who := "arn:aws:sts::" + c.account + ":assumed-role/berth/simulated"
	text := "User: " + who + " is not authorized to perform: " + a.Action + " on resource: " + a.Resource + " because no identity-based policy allows the " + a.Action + " action"
	if service != "ec2" {
		return &query.Error{Status: http.StatusForbidden, Code: "AccessDenied", Message: text}
	}
	return &query.Error{
		Status: http.StatusForbidden, Code: "UnauthorizedOperation",
		Message: fmt.Sprintf("You are not authorized to perform this operation. %s. Encoded authorization failure message: %032x", text, c.refusals.Add(1)),
	}
}
