package plan_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// The specs below have the shape of those of the aws provider.

type groupSpec struct {
	Name        string
	Description string
	VPC         string
	Tags        map[string]string
}

type ruleSpec struct {
	Group    stack.Ref
	Protocol string
	From, To int
	Source   stack.Ref
}

type classicSpec struct {
	Name      string
	Scheme    string
	Subnets   []string
	Groups    []stack.Ref
	Instances []string
	Tags      map[string]string
}

type listenerSpec struct {
	Protocol         string
	Port             int
	InstanceProtocol string
	InstancePort     int
	Certificate      string
}

type healthSpec struct {
	Target             string
	Interval, Timeout  time.Duration
	Healthy, Unhealthy int
}

type targetGroupSpec struct {
	Name     string
	Protocol string
	Port     int
	Health   healthSpec
	Targets  []string
}

type forwardSpec struct {
	Port   int
	Target stack.Ref
}

type firewallSpec struct{ Sources []netip.Prefix }

type authSpec struct {
	Client   string
	Password string `plan:"secret"`
}

type loginSpec struct {
	User string
	Key  string `plan:"secret"`
	Auth authSpec
	Pins []string `plan:"secret"`
}

func newKey(kind, name string) stack.Key { return stack.Key{Kind: stack.Kind(kind), Name: name} }

func newOwner(name string) stack.Owner {
	return stack.Owner{Namespace: "shop", Name: name, UID: "uid-" + name}
}

func stepID(o stack.Owner, a plan.Action, k stack.Key, part string) plan.StepID {
	return plan.StepID{Owner: o, Key: k, Action: a, Part: part}
}

const (
	lbName  = "a6f1c0de4b7d24c1e9f0aa51b3c2d4e5"
	certOld = "arn:aws:acm:eu-west-1:123456789012:certificate/0b1e7c52-6a9d-4f0e-9a57-1f2d3c4b5a69"
	certNew = "arn:aws:acm:eu-west-1:123456789012:certificate/0b1e7c52-ffff-4f0e-9a57-1f2d3c4b5a69"
	tgARN   = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/k8s-shop-web-7fa2e07508/0123456789abcdef"
)

var (
	group    = newKey("security-group", "")
	classic  = newKey("load-balancer", "")
	http     = newKey("listener", "80")
	https    = newKey("listener", "443")
	health   = newKey("health-check", "")
	target   = newKey("target-group", "tcp-443")
	nodeRule = newKey("node-rule", "sg-0f3e9/tcp-31380")
)

func serviceTags(name string) map[string]string {
	return map[string]string{"kubernetes.io/cluster/prod": "owned", "kubernetes.io/service-name": "shop/" + name}
}

// createdPlan returns the plan of a Service that gets its first classic load balancer.
func createdPlan() plan.Plan {
	o := newOwner("web")
	createGroup := stepID(o, plan.Create, group, "")
	createLB := stepID(o, plan.Create, classic, "")
	return plan.Plan{Owner: o, Steps: []plan.Step{
		{
			ID: createGroup, Reason: plan.Missing,
			Target: stack.Resource{Key: group, Spec: groupSpec{
				Name:        "k8s-elb-" + lbName,
				Description: "Security group for Kubernetes ELB " + lbName + " (shop/web)",
				VPC:         "vpc-0a1b2c3d",
				Tags:        map[string]string{"kubernetes.io/cluster/prod": "owned"},
			}},
		},
		{
			ID: createLB, Reason: plan.Missing, Waits: plan.Waits{Needs: []plan.StepID{createGroup}},
			Target: stack.Resource{Key: classic, Spec: classicSpec{
				Name: lbName, Subnets: []string{"subnet-0aa1", "subnet-0bb2", "subnet-0cc3"},
				Groups: []stack.Ref{stack.RefTo(group)}, Tags: serviceTags("web"),
			}},
			With: []stack.Resource{
				{Key: http, In: classic, Spec: listenerSpec{Protocol: "TCP", Port: 80, InstanceProtocol: "TCP", InstancePort: 31380}},
				{Key: https, In: classic, Spec: listenerSpec{Protocol: "SSL", Port: 443, InstanceProtocol: "TCP", InstancePort: 31390, Certificate: certOld}},
			},
		},
		{
			ID: stepID(o, plan.Update, health, ""), Reason: plan.Changed, Waits: plan.Waits{Needs: []plan.StepID{createLB}},
			Why:    "a new load balancer has the cloud's default",
			Target: stack.Resource{Key: health, In: classic, Spec: healthSpec{Target: "TCP:31380", Interval: 10 * time.Second, Timeout: 5 * time.Second, Healthy: 2, Unhealthy: 6}},
			Changes: []plan.Change{
				{Field: "Interval", From: 30 * time.Second, To: 10 * time.Second},
				{Field: "Healthy", From: 10, To: 2},
				{Field: "Unhealthy", From: 2, To: 6},
			},
		},
		{
			ID: stepID(o, plan.Create, nodeRule, ""), Reason: plan.Missing, Waits: plan.Waits{Needs: []plan.StepID{createGroup}}, Batch: "authorize/sg-0f3e9",
			Target: stack.Resource{Key: nodeRule, Ownership: stack.Shared, Spec: ruleSpec{Group: stack.RefID("sg-0f3e9"), Protocol: "tcp", From: 31380, To: 31380, Source: stack.RefTo(group)}},
		},
	}}
}

// changedPlan returns the plan of a load balancer with new instances, source ranges and
// tags.
func changedPlan() plan.Plan {
	o := newOwner("api")
	before := []string{"i-01", "i-02", "i-03", "i-04", "i-05"}
	after := []string{"i-02", "i-03", "i-04", "i-05"}
	var added []any
	for n := range 20 {
		after = append(after, fmt.Sprintf("i-1%02d", n))
		added = append(added, fmt.Sprintf("i-1%02d", n))
	}
	register := stepID(o, plan.Update, classic, "instances+")
	spec := classicSpec{Name: lbName, Instances: after, Tags: serviceTags("api")}
	step := func(i plan.StepID, changes ...plan.Change) plan.Step {
		return plan.Step{ID: i, Reason: plan.Changed, Target: stack.Resource{Key: i.Key, ID: lbName, Spec: spec}, Found: spec, Changes: changes}
	}
	deregister := step(stepID(o, plan.Update, classic, "instances-"), plan.Change{Field: "Instances", From: before, To: after, Removed: []any{"i-01"}})
	deregister.Needs = []plan.StepID{register}
	firewall := newKey("firewall", "")
	return plan.Plan{Owner: o, Steps: []plan.Step{
		step(register, plan.Change{Field: "Instances", From: before, To: after, Added: added}),
		deregister,
		step(stepID(o, plan.Update, classic, "tags"), plan.Change{
			Field: "Tags",
			From:  map[string]string{"team": "shop", "cost-centre": "17", "kubernetes.io/cluster/prod": "owned"},
			To:    map[string]string{"team": "checkout", "stage": "prod", "kubernetes.io/cluster/prod": "owned"},
		}),
		{
			ID: stepID(o, plan.Update, firewall, ""), Reason: plan.Changed, Why: "spec.loadBalancerSourceRanges changed",
			Target: stack.Resource{Key: firewall, ID: "sg-0f3e9", Spec: firewallSpec{}},
			Changes: []plan.Change{{
				Field: "Sources",
				From:  []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
				To:    []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")},
			}},
		},
	}}
}

// replacedPlan returns the plan of a listener whose port is a slot (delete first) and a
// target group behind a running listener (create first), the old one kept for a minute.
func replacedPlan() plan.Plan {
	o := newOwner("pay")
	createTarget, deleteTarget := stepID(o, plan.Create, target, ""), stepID(o, plan.Delete, target, "")
	createHTTPS, deleteHTTPS := stepID(o, plan.Create, https, ""), stepID(o, plan.Delete, https, "")
	forward := newKey("forward", "443")
	newTarget := targetGroupSpec{Name: "k8s-shop-pay-3868761686", Protocol: "TLS", Port: 31390, Health: healthSpec{Target: "traffic-port"}}
	newListener := listenerSpec{Protocol: "SSL", Port: 443, InstanceProtocol: "TCP", InstancePort: 31390, Certificate: certNew}
	targets := plan.Pair{Create: createTarget, Delete: deleteTarget, Order: plan.CreateFirst}
	listeners := plan.Pair{Create: createHTTPS, Delete: deleteHTTPS, Order: plan.DeleteFirst}
	return plan.Plan{Owner: o, Steps: []plan.Step{
		{
			ID: createTarget, Reason: plan.Replaced, Pair: targets, Target: stack.Resource{Key: target, Spec: newTarget},
			Changes: []plan.Change{
				{Field: "Name", From: "k8s-shop-pay-7fa2e07508", To: "k8s-shop-pay-3868761686"},
				{Field: "Protocol", From: "TCP", To: "TLS", Forces: true},
			},
		},
		{
			ID: stepID(o, plan.Update, forward, ""), Reason: plan.Changed, Waits: plan.Waits{Needs: []plan.StepID{createTarget}},
			Target: stack.Resource{Key: forward, ID: "443", Spec: forwardSpec{Port: 443, Target: stack.RefTo(target)}}, Impact: plan.Brief,
			Changes: []plan.Change{{Field: "Target", From: stack.RefID(tgARN), To: stack.RefTo(target)}},
		},
		{
			ID: deleteTarget, Reason: plan.Replaced, Pair: targets, Waits: plan.Waits{Needs: []plan.StepID{stepID(o, plan.Update, forward, "")}, Gate: plan.Gate{After: time.Minute, Since: "the new targets are healthy"}},
			Target: stack.Resource{Key: target, ID: tgARN, Spec: newTarget},
		},
		{ID: deleteHTTPS, Reason: plan.Replaced, Pair: listeners, Impact: plan.Interrupts, Target: stack.Resource{Key: https, ID: lbName + "/443", Spec: newListener}},
		{
			ID: createHTTPS, Reason: plan.Replaced, Pair: listeners, Waits: plan.Waits{Needs: []plan.StepID{deleteHTTPS}}, Impact: plan.Brief,
			Target: stack.Resource{Key: https, Spec: newListener},
			Changes: []plan.Change{
				{Field: "InstanceProtocol", From: "SSL", To: "TCP", Forces: true},
				{Field: "Certificate", From: certOld, To: certNew, Forces: true},
			},
		},
	}}
}

// movedPlan returns the plan of a Service that leaves aws's classic kind; deletions are
// not allowed by policy and the node rule is used by others.
func movedPlan() plan.Plan {
	o := newOwner("old")
	deleteLB := stepID(o, plan.Delete, classic, "")
	strange := newKey("security-group", "extra")
	p := plan.Plan{Owner: o, Steps: []plan.Step{
		{
			ID: stepID(o, plan.Forget, nodeRule, ""), Reason: plan.Shared, Why: "stays, used by shop/api, shop/cart, shop/pay and 11 more",
			Target: stack.Resource{Key: nodeRule, ID: "sg-0f3e9/tcp/31380", Ownership: stack.Shared, Spec: ruleSpec{}},
		},
		{ID: deleteLB, Reason: plan.Unwanted, Impact: plan.Interrupts, Target: stack.Resource{Key: classic, ID: lbName, Spec: classicSpec{Name: lbName}}},
		{ID: stepID(o, plan.Delete, group, ""), Reason: plan.Unwanted, Waits: plan.Waits{Needs: []plan.StepID{deleteLB}}, Target: stack.Resource{Key: group, ID: "sg-0aa77", Spec: groupSpec{}}},
	}, Blocked: []plan.Blocked{{
		Step: plan.Step{ID: stepID(o, plan.Delete, strange, ""), Reason: plan.Unwanted, Target: stack.Resource{Key: strange, ID: "sg-0bb88", Spec: groupSpec{}}},
		By:   "proof", Why: "the group carries no tag of this cluster, so it may belong to another cluster",
	}}}
	return p.Under(plan.NoDelete)
}

// switchedPlan returns a plan that keeps everything old until clients know the new
// address.
func switchedPlan() plan.Plan {
	o := newOwner("switch")
	gate := plan.Gate{After: time.Minute, Since: "the status shows the new load balancer"}
	deleteLB := stepID(o, plan.Delete, classic, "")
	return plan.Plan{Owner: o, Steps: []plan.Step{
		{ID: deleteLB, Reason: plan.Unwanted, Waits: plan.Waits{Gate: gate}, Target: stack.Resource{Key: classic, ID: lbName}},
		{ID: stepID(o, plan.Delete, group, ""), Reason: plan.Unwanted, Waits: plan.Waits{Needs: []plan.StepID{deleteLB}}, Target: stack.Resource{Key: group, ID: "sg-0aa77"}},
	}}
}

// sharedPlans returns plans that need a step of the cluster's own plan.
func sharedPlans() []plan.Plan {
	o := newOwner("nlb")
	backend := stepID(stack.Owner{}, plan.Create, newKey("backend-group", ""), "")
	rule := newKey("frontend-rule", "tcp-80")
	return []plan.Plan{
		{Owner: o, Steps: []plan.Step{{
			ID: stepID(o, plan.Create, rule, ""), Reason: plan.Missing, Waits: plan.Waits{Needs: []plan.StepID{backend, stepID(newOwner("gone"), plan.Delete, rule, "")}},
			Target: stack.Resource{Key: rule, Spec: ruleSpec{Group: stack.RefID("sg-0f3e9"), Protocol: "tcp", From: 80, To: 80}},
		}}},
		{Steps: []plan.Step{{ID: backend, Reason: plan.Missing, Target: stack.Resource{Key: backend.Key, Spec: groupSpec{Name: "k8s-traffic-prod-0a1b2c3d4e"}}}}},
	}
}

func secretPlan() plan.Plan {
	o := newOwner("login")
	k := newKey("login", "")
	spec := loginSpec{User: "berth", Key: "hunter2", Auth: authSpec{Client: "c", Password: "hunter2"}, Pins: []string{"hunter2"}}
	return plan.Plan{Owner: o, Steps: []plan.Step{
		{ID: stepID(o, plan.Create, newKey("login", "new"), ""), Reason: plan.Missing, Target: stack.Resource{Key: newKey("login", "new"), Spec: spec}},
		{
			ID: stepID(o, plan.Update, k, ""), Reason: plan.Changed, Target: stack.Resource{Key: k, ID: "login-1", Spec: spec}, Found: loginSpec{},
			Changes: []plan.Change{
				{Field: "Key", From: "hunter1", To: "hunter2"},
				{Field: "Auth", From: authSpec{Client: "b", Password: "hunter1"}, To: spec.Auth},
				{Field: "Auth.Password", From: "hunter1", To: "hunter2"},
				{Field: "Pins", From: []string{}, To: spec.Pins, Added: []any{"hunter2"}},
			},
		},
	}}
}

func emptyPlan(name string) plan.Plan { return plan.Plan{Owner: newOwner(name)} }

func newDocument(plans ...plan.Plan) plan.Document { return plan.NewDocument("aws", plans) }

// remarkOn returns a remark with one problem.
func remarkOn(owner stack.Owner, problem plan.Problem) plan.Remark {
	return plan.Remark{Owner: owner, Problems: []plan.Problem{problem}}
}

// goldenCases returns the documents that the goldens show.
func goldenCases() map[string]plan.Document {
	forgets := movedPlan()
	forgets.Steps, forgets.Blocked = forgets.Steps[:1], nil
	held := movedPlan()
	held.Steps = nil
	hidden := newDocument(emptyPlan("typo")).WithRemarks(remarkOn(newOwner("typo"), plan.Problem{
		Severity: plan.Error, Where: "service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout",
		Text: "\"sixty\" is no number; seconds from 1 to 4000 are allowed",
	}))
	warned := newDocument(emptyPlan("warned")).WithRemarks(remarkOn(newOwner("warned"), plan.Problem{
		Severity: plan.Warning, Where: "service.beta.kubernetes.io/aws-load-balancer-extra-security-group",
		Text: "unknown annotation; did you mean aws-load-balancer-extra-security-groups?",
	}))
	broken := newDocument(emptyPlan("web"), emptyPlan("cart"), switchedPlan()).WithRemarks(remarkOn(newOwner("cart"), plan.Problem{
		Severity: plan.Error, Text: "the security groups could not be read: access denied",
	}))
	return map[string]plan.Document{
		"broken":    broken,
		"together":  newDocument(replacedPlan().Under(plan.NoReplace)),
		"create":    newDocument(createdPlan()),
		"update":    newDocument(changedPlan()),
		"replace":   newDocument(replacedPlan()),
		"held":      newDocument(movedPlan()),
		"held-only": newDocument(held),
		"forget":    newDocument(forgets),
		"gated":     newDocument(switchedPlan()),
		"secret":    newDocument(secretPlan()),
		"nothing":   newDocument(emptyPlan("web")),
		"cluster":   newDocument(plan.Plan{}),
		"empty":     newDocument(),
		"error":     hidden,
		"warning":   warned,
		"shared":    newDocument(sharedPlans()...),
		"quiet":     newDocument(emptyPlan("a"), emptyPlan("b"), emptyPlan("c")),
		"list":      newDocument(emptyPlan("zebra"), createdPlan(), emptyPlan("cart"), movedPlan(), switchedPlan()),
	}
}
