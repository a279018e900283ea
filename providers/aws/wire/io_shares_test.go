package wire

import (
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/sessions"
	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// theirTargets makes a target group that nothing of ours has a part in.
func (r *rig) theirTargets(name string) string {
	r.Helper()
	out, err := r.session.network.CreateTargetGroup(r.Context(), &elbv2.CreateTargetGroupInput{
		Name: &name, Protocol: elbv2types.ProtocolEnumTcp, Port: awssdk.Int32(8080), VpcId: &r.seed.VPC, TargetType: elbv2types.TargetTypeEnumIp,
	})
	if err != nil {
		r.Fatal(err)
	}
	return awssdk.ToString(out.TargetGroups[0].TargetGroupArn)
}

// TestSharedTraffic: a listener shares its traffic with target groups of others, whatever
// order AWS lists them in, and they are left where they are in the end.
func TestSharedTraffic(t *testing.T) {
	r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
	w := r.networkWish(ownerOf(1))
	blue, green := r.theirTargets("blue"), r.theirTargets("green")
	for _, step := range []struct {
		name   string
		change func(*networkPort)
	}{
		{"create", func(p *networkPort) { p.Shares = []model.Weighted{{Weight: 90}, {Group: blue, Weight: 10}} }},
		{"another share", func(p *networkPort) { p.Shares = []model.Weighted{{Weight: 0}, {Group: blue, Weight: 100}} }},
		{"two others", func(p *networkPort) {
			p.Sticks, p.Shares = model.StickinessOn, []model.Weighted{{Weight: 1}, {Group: blue, Weight: 1}, {Group: green, Weight: 2}}
			slices.SortFunc(p.Shares, model.CompareWeighted)
		}},
		{"the node port changes meanwhile", func(p *networkPort) { p.group.Port = 30090 }},
		{"all is the Service's", func(p *networkPort) { p.Sticks, p.Shares = "", nil }},
		{"one again", func(p *networkPort) { p.Shares = []model.Weighted{{Weight: 5}, {Group: green, Weight: 5}} }},
	} {
		step.change(&w.ports[0])
		t.Run(step.name, func(t *testing.T) {
			r.TB = t
			r.arrive(w.owner, w.stack())
		})
	}
	r.TB = t
	r.turnAround(w.owner)
	if p := diff.Compare(w.stack(), r.cloud.MatchFound(w.stack(), r.read(w.owner)), model.Rules(), r.book); !p.Empty() {
		t.Errorf("another order of the groups is taken for a difference: %s", sessions.Steps(p))
	}
	r.arrive(w.owner, nil)
	for _, arn := range []string{blue, green} {
		if _, err := r.session.network.DescribeTargetGroups(t.Context(), &elbv2.DescribeTargetGroupsInput{TargetGroupArns: []string{arn}}); err != nil {
			t.Errorf("%s: %v", arn, err)
		}
	}
}

// turnAround writes the shares of a Service's only listener in the opposite order.
func (r *rig) turnAround(o stack.Owner) {
	r.Helper()
	listener := r.read(o).Of(model.KindListener)[0]
	out, err := r.session.network.DescribeListeners(r.Context(), &elbv2.DescribeListenersInput{ListenerArns: []string{listener.ID}})
	if err != nil {
		r.Fatal(err)
	}
	actions := out.Listeners[0].DefaultActions
	slices.Reverse(actions[0].ForwardConfig.TargetGroups)
	if _, err := r.session.network.ModifyListener(r.Context(), &elbv2.ModifyListenerInput{ListenerArn: &listener.ID, DefaultActions: actions}); err != nil {
		r.Fatal(err)
	}
}
