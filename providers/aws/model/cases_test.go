package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
)

// TestCases: what each Service wants, what the user sees, and what is done.
func TestCases(t *testing.T) { suite().Cases(t) }

// TestIdempotent: once everything is made, building again wants the same, and
// there is nothing to do.
func TestIdempotent(t *testing.T) { suite().Idempotent(t, nil) }

// TestOrder: the order of nodes means nothing; that of ports only which one a
// Classic Load Balancer checks.
func TestOrder(t *testing.T) { suite().Order(t) }

// TestMoves: from whatever one case leaves to whatever another wants there is a
// plan without a circle, and nothing of the first stays.
func TestMoves(t *testing.T) {
	wanted := map[string]*stack.Stack{}
	for _, c := range suite().Live(t) {
		if r := c.Run(t); r.Want != nil {
			wanted[c.Name] = r.Want
		}
	}
	for i, from := range wanted {
		for j, to := range wanted {
			suite().Moves(t, i+" to "+j, to, asFound(from))
		}
	}
}

// movesListener reports whether a listener is about to move to another target group, or
// a port or the Service to another load balancer.
func movesListener(want *stack.Stack) bool {
	if slices.ContainsFunc(want.Resources, func(r stack.Resource) bool {
		_, kept := want.Get(r.In)
		return !kept && (r.Key.Kind == KindTargets || r.Key.Kind == KindClassicInst)
	}) {
		return true
	}
	waits := slices.ContainsFunc(want.Of(KindClassicPort), func(r stack.Resource) bool {
		l, _ := r.Spec.(ClassicPort)
		return l.Waits
	})
	return waits || slices.ContainsFunc(want.Of(KindListener), func(r stack.Resource) bool {
		l, _ := r.Spec.(Listener)
		return l.Leaving != ""
	})
}

// TestForecast: a plan by which a target group joins a listener says what follows.
func TestForecast(t *testing.T) {
	for name, want := range map[string]string{
		"lbc-nodes-to-pods": "once a target of target-group/tcp-80 is healthy, listener/tcp-80 sends to it alone, without an interruption; 2m0s later the old target group is deleted",
		"lbc-pods":          "",
	} {
		c := suite().Open(t, name)
		in, _ := c.Input(c.Service)
		if got := strings.Join(forecastSteps(in, c.World.Facts, c.Have(t)), "\n"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
