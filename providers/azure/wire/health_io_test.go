package wire

import (
	"net/http"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/azure/model"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestHealth verifies that members are reported as Azure evaluates them, rule by rule,
// whether pools have interfaces or addresses, and whether the response is immediate or
// delayed.
func TestHealth(t *testing.T) {
	for name, tc := range map[string]struct {
		options simazure.Options
		pools   string
	}{
		"interfaces":          {pools: "nodeIPConfiguration"},
		"addresses":           {pools: model.PoolNodeIP},
		"answered a bit late": {options: simazure.Options{ARM: simarm.Options{Latency: 20 * time.Millisecond, PollAfter: 5 * time.Millisecond}}, pools: "nodeIPConfiguration"},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := newRig(t, tc.options)
			r.Config.PoolType, r.Session.config.PoolType = tc.pools, tc.pools
			svc := numberedService(1, model.Public, nil)
			if _, err := r.run(svc, false); err != nil {
				t.Fatal(err)
			}
			r.powerOff(0)
			health, err := r.Session.Health(t.Context(), r.Read(false, svc)[0].Have)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]int{}
			off := r.Nodes[0].Status.Addresses[0].Address
			for _, h := range health {
				parts[h.Part]++
				if is := h.Member == off; h.Healthy == is || h.Of.Kind != model.KindEntries || is != (h.Why != "") {
					t.Errorf("%+v; switched off is %s", h, off)
				}
			}
			if len(parts) != 2 || len(health) != 2*len(r.Nodes) {
				t.Errorf("%d members of the rules %v, want %d nodes behind 2 rules", len(health), parts, len(r.Nodes))
			}
		})
	}
}

// powerOff switches the machine of a node off.
func (r *rig) powerOff(n int) {
	r.Helper()
	if _, err := r.Session.send(r.Context(), request{method: http.MethodPost, path: r.sim.Cloud.Seed.Nodes[n].ID + "/poweroff", version: computeVersion}); err != nil {
		r.Fatal(err)
	}
}
