package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/harness"
)

// Phases of a kind that sends to pods.
const (
	// rolled is the phase in which pods are replaced by others.
	rolled = "pods"
	// one is the phase in which a user changes one Service.
	one = "one"
)

// manager is the managed-by label of the EndpointSlices of this program.
const manager = "bench"

// replacedPods is how many pods are replaced, if there are as many.
const replacedPods = 100

// podTargets is a Network Load Balancer that sends to pods.
func podTargets() subject {
	const prefix = "service.beta.kubernetes.io/aws-load-balancer-"
	return subject{
		cloud: "aws", kind: "nlb-ip", pods: 10, many: []string{one}, simArgs: append(awsQuotas(), "--pods=300"),
		config:      "\n[Berth]\nLoadBalancerController = true\n",
		annotations: map[string]string{prefix + "type": "external", prefix + "nlb-target-type": "ip", prefix + "scheme": "internet-facing"},
	}
}

// podSteps are the phases of a kind that sends to pods.
func (p *pass) podSteps() ([]step, error) {
	var err error
	if p.spare, err = p.world.Pods(); err != nil {
		return nil, err
	}
	if want := len(p.all)*p.subject.pods + replacedPods; len(p.spare) < want {
		return nil, fmt.Errorf("%d addresses of pods exist, want %d", len(p.spare), want)
	}
	var olds, news []string
	placed := func(ctx context.Context) error { return p.placed(ctx, olds, news) }
	return []step{
		{name: "create", act: p.createWithPods, effect: p.world.Programmed(p.all...)},
		{name: rolled, act: func(ctx context.Context) (err error) {
			olds, news, err = p.replacePods(ctx)
			return err
		}, effect: placed},
		{name: one, prepare: p.holdBack, act: func(ctx context.Context) error { return p.user(ctx).err }, effect: p.world.Programmed(p.all...)},
	}, nil
}

// holdBack restarts the controller, with its share of the rates, where the preparation was
// not measured with them.
func (p *pass) holdBack(ctx context.Context) error {
	if !p.limited(one) || p.limited(rolled) || p.limited("create") {
		return nil
	}
	if err := p.controller.Stop(limit); err != nil {
		return err
	}
	if err := p.start(ctx, []string{one}); err != nil {
		return err
	}
	if _, ended, err := p.settle(ctx, limit, quiet, p.world.Programmed(p.all...)); err != nil {
		return err
	} else if !ended {
		return errors.New("calls go on after the start")
	}
	return nil
}

// createWithPods creates the Services; their pods exist before.
func (p *pass) createWithPods(ctx context.Context) error {
	slices := p.world.Client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault)
	for _, svc := range p.all {
		if _, err := slices.Create(ctx, p.slice(svc), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("endpoints of %s: %w", svc.Name, err)
		}
	}
	return p.world.Create(ctx, p.all...)
}

// slice are ready pods of a Service, at addresses that no other has had.
func (p *pass) slice(svc corev1.Service) *discoveryv1.EndpointSlice {
	addresses := p.spare[:p.subject.pods]
	p.spare = p.spare[p.subject.pods:]
	return harness.ReadyPods(svc, svc.Name, manager, addresses)
}

// replacePods gives pods other addresses, those of one Service after the other, and returns
// the removed and the added addresses.
func (p *pass) replacePods(ctx context.Context) (olds, news []string, err error) {
	slices := p.world.Client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault)
	for _, svc := range p.all {
		if len(olds) >= replacedPods {
			break
		}
		slice, err := slices.Get(ctx, svc.Name, metav1.GetOptions{})
		if err != nil {
			return nil, nil, err
		}
		for i, e := range slice.Endpoints {
			olds, news = append(olds, e.Addresses[0]), append(news, p.spare[0])
			slice.Endpoints[i].Addresses, p.spare = []string{p.spare[0]}, p.spare[1:]
		}
		if _, err := slices.Update(ctx, slice, metav1.UpdateOptions{}); err != nil {
			return nil, nil, err
		}
	}
	return olds, news, nil
}

// placed answers nil when load balancers send to all of the new addresses and to none of
// the old ones.
func (p *pass) placed(ctx context.Context, olds, news []string) error {
	text, err := p.world.Sim.State(ctx)
	if err != nil {
		return err
	}
	var state any
	if err := json.Unmarshal(text, &state); err != nil {
		return err
	}
	targets := map[string]bool{}
	targetsIn(state, targets)
	for i := range news {
		if !targets[news[i]] || targets[olds[i]] {
			return fmt.Errorf("%s is a target: %v; %s, in whose place it is: %v", news[i], targets[news[i]], olds[i], targets[olds[i]])
		}
	}
	return nil
}

// targetsIn finds the targets in a part of the simulator's state that are not draining.
func targetsIn(state any, found map[string]bool) {
	switch part := state.(type) {
	case map[string]any:
		id, _ := part["ID"].(string)
		if until, is := part["Draining"].(string); is && strings.HasPrefix(until, "0001-") {
			found[id] = true
		}
		for _, v := range part {
			targetsIn(v, found)
		}
	case []any:
		for _, v := range part {
			targetsIn(v, found)
		}
	}
}

// removePods removes what createWithPods has made besides Services.
func (p *pass) removePods(ctx context.Context) error {
	if p.subject.pods == 0 {
		return nil
	}
	return p.world.Client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: discoveryv1.LabelManagedBy + "=" + manager})
}
