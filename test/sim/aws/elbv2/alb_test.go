package elbv2_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit/lbtest"
	"github.com/berth-lb/berth/test/sim/aws/elbv2"
)

func (r *rig) alb(name string) types.LoadBalancer {
	r.t.Helper()
	out, err := r.CreateLoadBalancer(r.t.Context(), &v2.CreateLoadBalancerInput{
		Name: aws.String(name), Scheme: types.LoadBalancerSchemeEnumInternal, Subnets: []string{"subnet-a", "subnet-b"}, SecurityGroups: []string{"sg-1"}})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.LoadBalancers[0]
}

func TestRulesOfApplicationLoadBalancers(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	lb, one, two := r.alb("app"), r.group("one", types.ProtocolEnumHttp), r.group("two", types.ProtocolEnumHttp)
	if dns := aws.ToString(lb.DNSName); !strings.HasPrefix(dns, "internal-app-") || !strings.HasSuffix(dns, ".us-east-1.elb.amazonaws.com") {
		t.Errorf("DNS name %q", dns)
	}
	l := r.listen(lb, 80, one)
	create := func(priority int32, host string, actions ...types.Action) types.Rule {
		t.Helper()
		out, err := r.CreateRule(t.Context(), &v2.CreateRuleInput{ListenerArn: l.ListenerArn, Priority: aws.Int32(priority),
			Conditions: []types.RuleCondition{{Field: aws.String("host-header"), Values: []string{host}}}, Actions: actions})
		if err != nil {
			t.Fatal(err)
		}
		return out.Rules[0]
	}
	weighted := create(20, "b.example.com", types.Action{Type: types.ActionTypeEnumForward, ForwardConfig: &types.ForwardActionConfig{
		TargetGroups: []types.TargetGroupTuple{{TargetGroupArn: one.TargetGroupArn, Weight: aws.Int32(9)}, {TargetGroupArn: two.TargetGroupArn, Weight: aws.Int32(1)}}}})
	moved := create(10, "a.example.com", types.Action{Type: types.ActionTypeEnumRedirect, RedirectConfig: &types.RedirectActionConfig{
		StatusCode: types.RedirectActionStatusCodeEnumHttp301, Protocol: aws.String("HTTPS"), Port: aws.String("443")}})
	if weighted.Actions[0].TargetGroupArn != nil {
		t.Errorf("two groups, but one ARN %q", *weighted.Actions[0].TargetGroupArn)
	}
	wantRedirect := &types.RedirectActionConfig{StatusCode: types.RedirectActionStatusCodeEnumHttp301, Protocol: aws.String("HTTPS"), Port: aws.String("443"),
		Host: aws.String("#{host}"), Path: aws.String("/#{path}"), Query: aws.String("#{query}")}
	if diff := cmp.Diff(wantRedirect, moved.Actions[0].RedirectConfig, cmpopts.IgnoreUnexported(types.RedirectActionConfig{})); diff != "" {
		t.Errorf("redirect (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.example.com"}, moved.Conditions[0].HostHeaderConfig.Values); diff != "" {
		t.Errorf("host (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"10", "20", "default"}, r.priorities(l)); diff != "" {
		t.Errorf("order (-want +got)\n%s", diff)
	}
	r.exchange(l, weighted, moved, two)
}

// priorities lists the priorities of the rules of a listener, one page each.
func (r *rig) priorities(l types.Listener) (out []string) {
	r.t.Helper()
	pages := v2.NewDescribeRulesPaginator(r.Client, &v2.DescribeRulesInput{ListenerArn: l.ListenerArn, PageSize: aws.Int32(1)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, rule := range page.Rules {
			out = append(out, *rule.Priority)
		}
	}
	return out
}

// exchange swaps the priorities of two rules and then frees the target group two of the first.
func (r *rig) exchange(l types.Listener, weighted, moved types.Rule, two types.TargetGroup) {
	t := r.t
	t.Helper()
	// Two rules may exchange their priorities in one call.
	if _, err := r.SetRulePriorities(t.Context(), &v2.SetRulePrioritiesInput{RulePriorities: []types.RulePriorityPair{
		{RuleArn: weighted.RuleArn, Priority: aws.Int32(10)}, {RuleArn: moved.RuleArn, Priority: aws.Int32(20)}}}); err != nil {
		t.Fatal(err)
	}
	_, err := r.DeleteTargetGroup(t.Context(), &v2.DeleteTargetGroupInput{TargetGroupArn: two.TargetGroupArn})
	expect(t, "group of a rule", "ResourceInUse", err)
	_, err = r.ModifyRule(t.Context(), &v2.ModifyRuleInput{RuleArn: weighted.RuleArn, Actions: []types.Action{{Type: types.ActionTypeEnumFixedResponse,
		FixedResponseConfig: &types.FixedResponseActionConfig{StatusCode: aws.String("503"), ContentType: aws.String("text/plain")}}}})
	expect(t, "modify", "", err)
	_, err = r.DeleteTargetGroup(t.Context(), &v2.DeleteTargetGroupInput{TargetGroupArn: two.TargetGroupArn})
	expect(t, "freed group", "", err)
	rules, err := r.DescribeRules(t.Context(), &v2.DescribeRulesInput{ListenerArn: l.ListenerArn})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.DeleteRule(t.Context(), &v2.DeleteRuleInput{RuleArn: rules.Rules[2].RuleArn})
	expect(t, "default rule", "OperationNotPermitted", err)
}

func TestGroupServesOneLoadBalancerOnly(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	a, b, tg := r.nlb("a"), r.nlb("b"), r.group("tg", types.ProtocolEnumTcp)
	r.listen(a, 80, tg)
	r.listen(a, 81, tg)
	_, err := r.CreateListener(t.Context(), &v2.CreateListenerInput{LoadBalancerArn: b.LoadBalancerArn, Port: aws.Int32(80), Protocol: types.ProtocolEnumTcp,
		DefaultActions: []types.Action{{Type: types.ActionTypeEnumForward, TargetGroupArn: tg.TargetGroupArn}}})
	expect(t, "second load balancer", "TargetGroupAssociationLimit", err)
}

func TestQuotasOfTargets(t *testing.T) {
	r := newRig(t, elbv2.Options{Limits: elbv2.Limits{TargetsPerZone: 1, TargetsPerGroup: 2}})
	lb, tg := r.nlb("web"), r.group("tg", types.ProtocolEnumTcp)
	register := func(tg types.TargetGroup, ids ...string) error {
		var ts []types.TargetDescription
		for _, id := range ids {
			ts = append(ts, types.TargetDescription{Id: aws.String(id)})
		}
		_, err := r.RegisterTargets(t.Context(), &v2.RegisterTargetsInput{TargetGroupArn: tg.TargetGroupArn, Targets: ts})
		return err
	}
	expect(t, "three in a group", "TooManyTargets", register(tg, "i-0a1", "i-0b2", "i-0c3"))
	r.listen(lb, 80, tg)
	expect(t, "one in each zone", "", register(tg, "i-0a1", "i-0b2"))
	other := r.group("other", types.ProtocolEnumTcp)
	r.listen(lb, 81, other)
	expect(t, "two in a zone", "TooManyTargets", register(other, "i-0a1"))
	if got := r.health(other); got != nil {
		t.Errorf("refused targets are registered: %v", got)
	}
}

func TestTagsAndPages(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	var arns []string
	for i := range 21 {
		out, err := r.CreateTargetGroup(t.Context(), &v2.CreateTargetGroupInput{Name: aws.String(fmt.Sprintf("tg-%02d", i)), Protocol: types.ProtocolEnumTcp,
			Port: aws.Int32(80), VpcId: aws.String("vpc-1"), Tags: []types.Tag{{Key: aws.String("n"), Value: aws.String(fmt.Sprint(i))}}})
		if err != nil {
			t.Fatal(err)
		}
		arns = append(arns, *out.TargetGroups[0].TargetGroupArn)
	}
	_, err := r.DescribeTags(t.Context(), &v2.DescribeTagsInput{ResourceArns: arns})
	expect(t, "21 ARNs", "ValidationError", err)
	if _, err := r.AddTags(t.Context(), &v2.AddTagsInput{ResourceArns: arns[:2], Tags: []types.Tag{{Key: aws.String("n"), Value: aws.String("x")}, {Key: aws.String("m")}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.RemoveTags(t.Context(), &v2.RemoveTagsInput{ResourceArns: arns[1:2], TagKeys: []string{"n", "not there"}}); err != nil {
		t.Fatal(err)
	}
	out, err := r.DescribeTags(t.Context(), &v2.DescribeTagsInput{ResourceArns: arns[:3]})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range out.TagDescriptions {
		line := ""
		for _, tag := range d.Tags {
			line += *tag.Key + "=" + *tag.Value + " "
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"n=x m= ", "m= ", "n=2 "}, got); diff != "" {
		t.Errorf("tags (-want +got)\n%s", diff)
	}
	pages, count := 0, 0
	p := v2.NewDescribeTargetGroupsPaginator(r.Client, &v2.DescribeTargetGroupsInput{PageSize: aws.Int32(10)})
	for p.HasMorePages() {
		page, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages, count = pages+1, count+len(page.TargetGroups)
	}
	if pages != 3 || count != 21 {
		t.Errorf("%d target groups on %d pages, want 21 on 3", count, pages)
	}
}

// TestConcurrentCalls is for the race detector: answers must not share memory with the state.
func TestConcurrentCalls(t *testing.T) {
	api := elbv2.New(lbtest.NewWorld(), elbv2.Options{})
	s := api.Service()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			lbtest.Call(s, fmt.Sprintf("CreateLoadBalancer Type=network Name=n%d Subnets.member.1=subnet-a SecurityGroups.member.1=sg-1", i%4), start)
			lbtest.Call(s, "DescribeLoadBalancers", time.Now())
			api.GroupUsers("sg-1")
			api.Snapshot()
		})
	}
	wg.Wait()
	if got := len(api.GroupUsers("sg-1")); got != 4 {
		t.Errorf("%d users of the group, want 4", got)
	}
}
