package oci_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/providers/oci/wire"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// TestRejectedListRules: the rules of many Services in one security list, of which some are
// for what is no range of addresses.
func TestRejectedListRules(t *testing.T) {
	props.RejectedMembers(t, func(t *testing.T) props.Shared {
		const bad = "192.0.2.1/24"
		running := simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 1}})
		file, err := running.Cloud.Seed.CloudConf(running.URL, key(), "20:3b:97:13:55:1c")
		if err != nil {
			t.Fatal(err)
		}
		config, _, err := model.ReadConfig(strings.NewReader(string(file) + "rateLimiter: {disableRateLimiter: true}\n"))
		if err != nil {
			t.Fatal(err)
		}
		session, _, err := wire.Open(t.Context(), config, providers.Env{Cluster: "kubernetes"})
		if err != nil {
			t.Fatal(err)
		}
		list := running.Cloud.Seed.Workers.SecurityList
		return props.Shared{
			Engine: engine.New(session.Apply, nil, engine.Options{PerOwner: 100}), Mark: bad,
			Calls: func() int { return running.Cloud.Journal.Counts()["core.UpdateSecurityList"] },
			Step: func(n int, wrong bool) plan.Step {
				entry := model.Entry{List: list, Direction: model.Ingress, Peer: fmt.Sprintf("198.51.100.%d/32", n), Port: int32(30000 + n)}
				if wrong {
					entry.Peer = bad
				}
				target := stack.Resource{Key: stack.Key{Kind: model.KindEntry, Name: fmt.Sprint(n)}, Ownership: stack.Shared, Spec: entry}
				o := stack.Owner{Namespace: "shop", Name: fmt.Sprintf("web-%d", n), UID: fmt.Sprintf("uid-%d", n)}
				return plan.Step{ID: plan.StepID{Owner: o, Key: target.Key, Action: plan.Create}, Target: target, Batch: model.Rules().Kinds[model.KindEntry].Batch(target, plan.Create, "")}
			},
		}
	})
}
