package wire

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// stateUp is the state of a member that is sent to.
// Source: Azure documentation, manage Load Balancer health status.
const stateUp = "Up"

// Health implements providers.Examiner, with one call for each load balancing rule. Pods
// behind a service gateway are not probed, and are not requested.
// Source: Azure REST API reference, Load Balancer Load Balancing Rules - Health.
func (s *Session) Health(ctx context.Context, have *stack.Stack) ([]providers.MemberHealth, error) {
	var out []providers.MemberHealth
	for r, spec := range stack.Each[model.Entries](have, model.KindEntries) {
		if r.Proof == stack.None {
			continue
		}
		found, errs := make([][]providers.MemberHealth, len(spec.Rules)), make([]error, len(spec.Rules))
		numbers := make([]int, len(spec.Rules))
		for i := range numbers {
			numbers[i] = i
		}
		kit.ForEach(numbers, func(i int) { found[i], errs[i] = s.ruleHealth(ctx, r.Key, spec, spec.Rules[i].Name) })
		for i, err := range errs {
			if err != nil {
				return nil, fmt.Errorf("%s: rule %s: %w", r.Key, spec.Rules[i].Name, err)
			}
		}
		out = append(out, slices.Concat(found...)...)
	}
	return out, nil
}

// ruleHealth asks for one rule, and waits for the answer.
func (s *Session) ruleHealth(ctx context.Context, of stack.Key, spec model.Entries, rule string) ([]providers.MemberHealth, error) {
	path := model.ARMID(s.config.SubscriptionOfNetwork(), spec.Group, "loadBalancers", spec.Balancer) + "/loadBalancingRules/" + rule + "/health"
	body, err := s.question(ctx, path)
	if err != nil {
		return nil, err
	}
	var out []providers.MemberHealth
	for _, m := range body.List("loadBalancerBackendAddresses") {
		state := m.Text("state")
		h := providers.MemberHealth{Of: of, Part: "rule " + rule, Member: m.Text("ipAddress"), State: state, Healthy: state == stateUp}
		if !h.Healthy {
			h.Why = m.Text("reason")
		}
		out = append(out, h)
	}
	return out, nil
}

// question makes a call that only asks, and is answered where Location leads to.
func (s *Session) question(ctx context.Context, path string) (model.Object, error) {
	a, err := s.send(ctx, request{method: http.MethodPost, path: path, version: networkVersion})
	if err != nil || a.status != http.StatusAccepted {
		return a.body, err
	}
	at, body := a.header.Get(headerLocation), model.Object(nil)
	err = s.until(ctx, http.MethodPost+" "+typeOf(path), path, a.header, func(ctx context.Context) (bool, http.Header, error) {
		now, err := s.send(ctx, request{method: http.MethodGet, path: at})
		body = now.body
		return now.status != http.StatusAccepted, now.header, err
	})
	return body, err
}
