package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// TestKeysAlone: a key without what it needs changes something, or is reported.
func TestKeysAlone(t *testing.T) {
	a := keysAlone(t)
	a.Effect = func(t testing.TB, svc *corev1.Service) cases.Effect {
		effect, _ := a.existing(t, nil, svc)
		return effect
	}
	a.Run(t)
}

// TestKeysLive: a value that an existing load balancer does not get is reported.
func TestKeysLive(t *testing.T) {
	a := keysAlone(t)
	a.Effect = func(t testing.TB, svc *corev1.Service) cases.Effect {
		effect, _ := a.existing(t, nil, svc)
		return effect
	}
	cases.Kept{Alone: a.Alone, Existing: a.existing, Rules: bundle().Rules, Chosen: []string{"load-balancer-entries.Pools"}}.Run(t)
}

// aloneWorld is the world of Services with single keys.
type aloneWorld struct {
	cases.Alone
	world  world
	config Config
}

func keysAlone(t *testing.T) aloneWorld {
	t.Helper()
	var w world
	cases.ReadWorld(t, &w)
	return aloneWorld{world: w, config: parseConfig(t, w.Config), Alone: cases.Alone{
		Keys: bundle().Annotations,
		Kinds: map[string]func(*corev1.Service){
			Public: func(svc *corev1.Service) { svc.Spec.LoadBalancerIP = "20.2.2.2" },
			Internal: func(svc *corev1.Service) {
				svc.Spec.LoadBalancerIP, svc.Annotations[internalKey.Name] = "10.240.0.30", "true"
			},
		},
		Except: map[string]string{additionalKey.Name: "the status of internal Services has it, see TestAddresses"},
	}}
}

// existing builds a Service once another one with its identity is served; nil: none is.
func (w aloneWorld) existing(t testing.TB, was, svc *corev1.Service) (cases.Effect, *stack.Stack) {
	in, problems := inputOf(w.config, w.world.ClusterName, svc, w.world.Nodes)
	a := newARM(t, w.config, w.world.ClusterName, w.world.Facts)
	a.pips["rg/theirs"] = a.wire(Object{"name": "theirs", "id": ARMID("sub", "rg", "publicIPAddresses", "theirs"), "properties": map[string]any{"ipAddress": "20.2.2.2"}})
	var have *stack.Stack
	if was != nil {
		before, _ := inputOf(w.config, w.world.ClusterName, was, w.world.Nodes)
		if _, refused := a.settle(before.Owner, &tenant{in: before}, cases.ReadyLedger()); len(refused) > 0 {
			t.Fatal(refused)
		}
		have = a.have(before.Owner)
	}
	want, more, err := buildStack(in, a.read(), have)
	if err != nil {
		t.Fatal(err)
	}
	return cases.Effect{Want: want, Status: bundle().Status(in, want), Problems: append(problems, more...)}, have
}
