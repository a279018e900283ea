package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// options is what the cloud itself has of a backend service and its rule after the
// annotations were written, changed and taken away.
type options struct {
	Log      model.Logging
	Logs     bool // whether anything is said about logging
	Locality string
	Affinity string
	Strong   bool
	Idle     int32
	Global   bool
	Tier     string
}

// optionsOf asks the cloud past the reading half.
func (r *rig) optionsOf(svc *corev1.Service) options {
	r.Helper()
	have := r.Read(false, svc)[0].Have
	c := &change{Session: r.Session, Change: kit.Change[*Session]{Ctx: r.Context()}}
	b, err := c.getBackend(backendOf(have))
	if err != nil {
		r.Fatal(err)
	}
	track := b.GetConnectionTrackingPolicy()
	out := options{
		Locality: b.GetLocalityLbPolicy(), Affinity: b.GetSessionAffinity(),
		Strong: track.GetEnableStrongAffinity(), Idle: track.GetIdleTimeoutSec(), Logs: b.GetLogConfig() != nil,
	}
	if l := b.GetLogConfig(); l != nil {
		out.Log = model.Logging{Enable: l.GetEnable(), Rate: asWritten(l.GetSampleRate()), Mode: l.GetOptionalMode()}
	}
	for _, rule := range append(have.Of(model.KindExternalRule), have.Of(model.KindInternalRule)...) {
		spec, _ := rule.Spec.(model.Rule)
		out.Global, out.Tier = spec.GlobalAccess, spec.Tier
	}
	return out
}

// TestOptionsAreWritten: annotations and the session affinity are written to the cloud
// and a change updates them. Without a value the existing one or the default applies
// again.
func TestOptionsAreWritten(t *testing.T) {
	const (
		logs     = "berth-lb.io/gce-log-sample-rate"
		weighted = "networking.gke.io/weighted-load-balancing"
		strong   = "networking.gke.io/l4-strong-session-affinity"
		global   = "networking.gke.io/internal-load-balancer-allow-global-access"
		tier     = "cloud.google.com/network-tier"
	)
	type stage struct {
		name string
		says map[string]string
		idle int32 // timeout of session affinity ClientIP; 0: None
		want options
	}
	for class, stages := range map[string][]stage{
		netlbClass: {
			{"nothing", nil, 0, options{Affinity: "NONE", Tier: "PREMIUM"}},
			{"all", map[string]string{logs: "0.5", weighted: "pods-per-node", strong: "enabled"}, 600, options{
				Log: model.Logging{Enable: true, Rate: 0.5, Mode: "EXCLUDE_ALL_OPTIONAL"}, Logs: true, Locality: "WEIGHTED_MAGLEV", Affinity: "CLIENT_IP", Strong: true, Idle: 600, Tier: "PREMIUM",
			}},
			{"other numbers", map[string]string{logs: "0.25", weighted: "pods-per-node", strong: "enabled"}, 57600, options{
				Log: model.Logging{Enable: true, Rate: 0.25, Mode: "EXCLUDE_ALL_OPTIONAL"}, Logs: true, Locality: "WEIGHTED_MAGLEV", Affinity: "CLIENT_IP", Strong: true, Idle: 57600, Tier: "PREMIUM",
			}},
			{"no logs, no strong affinity, another tier", map[string]string{logs: "0", tier: "Standard"}, 57600, options{
				Log: model.Logging{Mode: "EXCLUDE_ALL_OPTIONAL"}, Logs: true, Locality: "MAGLEV", Affinity: "CLIENT_IP", Tier: "STANDARD",
			}},
			{"nothing again", nil, 0, options{
				Log: model.Logging{Mode: "EXCLUDE_ALL_OPTIONAL"}, Logs: true, Locality: "MAGLEV", Affinity: "NONE", Tier: "STANDARD",
			}},
		},
		negClass: {
			{"all", map[string]string{logs: "1", weighted: "pods-per-node", global: "true"}, 10800, options{
				Log: model.Logging{Enable: true, Rate: 1, Mode: "EXCLUDE_ALL_OPTIONAL"}, Logs: true, Locality: "WEIGHTED_GCP_RENDEZVOUS", Affinity: "CLIENT_IP", Global: true, Tier: "PREMIUM",
			}},
			{"no global access", map[string]string{logs: "1", weighted: "pods-per-node"}, 0, options{
				Log: model.Logging{Enable: true, Rate: 1, Mode: "EXCLUDE_ALL_OPTIONAL"}, Logs: true, Locality: "WEIGHTED_GCP_RENDEZVOUS", Affinity: "NONE", Tier: "PREMIUM",
			}},
			{"no weights", map[string]string{logs: "1"}, 0, options{
				Log: model.Logging{Enable: true, Rate: 1, Mode: "EXCLUDE_ALL_OPTIONAL"}, Logs: true, Affinity: "NONE", Tier: "PREMIUM",
			}},
		},
	} {
		virtual.Run(t, model.LastOf(class), func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			svc := testService(1, class, localPolicy)
			for _, s := range stages {
				svc.Annotations = s.says
				svc.Spec.SessionAffinity, svc.Spec.SessionAffinityConfig = corev1.ServiceAffinityNone, nil
				if s.idle > 0 {
					svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
					svc.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &s.idle}}
				}
				r.arrive(svc)
				if d := cmp.Diff(s.want, r.optionsOf(svc)); d != "" {
					t.Errorf("%s: (-want +got)\n%s", s.name, d)
				}
			}
			r.leave(svc)
		})
	}
}
