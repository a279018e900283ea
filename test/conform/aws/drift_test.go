package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/conform/kit"
)

const prefix = "service.beta.kubernetes.io/aws-load-balancer-"

// setAnnotation sets an annotation of AWS; an empty value removes it.
func setAnnotation(key, value string) func(*corev1.Service) {
	return func(svc *corev1.Service) {
		if value == "" {
			delete(svc.Annotations, prefix+key)
			return
		}
		if svc.Annotations == nil {
			svc.Annotations = map[string]string{}
		}
		svc.Annotations[prefix+key] = value
	}
}

func setRanges(cidrs ...string) func(*corev1.Service) {
	return func(svc *corev1.Service) { svc.Spec.LoadBalancerSourceRanges = cidrs }
}

func setPolicy(p corev1.ServiceExternalTrafficPolicy) func(*corev1.Service) {
	return func(svc *corev1.Service) { svc.Spec.ExternalTrafficPolicy = p }
}

// driftingChanges returns changes that the official controller applies badly or not at
// all, and others that it applies well.
func driftingChanges() []changed {
	return []changed{
		{"nlb-tags", setAnnotation("additional-resource-tags", "team=shop,stage=test")},
		{"nlb-target-attributes", setAnnotation("target-group-attributes", "")},
		{"nlb-check-numbers", setAnnotation("healthcheck-unhealthy-threshold", "6")},
		{"nlb-internal", setAnnotation("internal", "")},
		{"nlb-subnets", setAnnotation("subnets", "{{public 0}},{{public 2}}")},
		{"nlb-plain", setPolicy("Local")},
		{"clb-tags", setAnnotation("additional-resource-tags", "team=shop")},
		{"clb-tls", setAnnotation("ssl-negotiation-policy", "ELBSecurityPolicy-2016-08")},
		{"clb-internal", setAnnotation("internal", "")},
		{"clb-proxy-protocol", setAnnotation("proxy-protocol", "")},
		{"nlb-ranges", setRanges("10.9.0.0/16")},
		{"nlb-ports", setRanges("10.8.0.0/16")},
		{"nlb-local-ranges", setPolicy("Cluster")},
		{"nlb-access-logs", setAnnotation("access-log-enabled", "")},
		{"clb-access-logs", setAnnotation("access-log-enabled", "")},
		{"clb-connections", setAnnotation("connection-draining-enabled", "")},
		{"nlb-check-http", setAnnotation("healthcheck-path", "/pong")},
		{"clb-local", setPolicy("Cluster")},
		{"nlb-local", setPolicy("Cluster")},
		{"nlb-tls-to-ssl", setAnnotation("ssl-negotiation-policy", "")},
		{"clb-extra-groups", setAnnotation("extra-security-groups", "")},
		{"clb-check-http", setAnnotation("healthcheck-path", "")},
		{"clb-tls-named", setAnnotation("ssl-ports", "*")},
		{"nlb-node-labels", setAnnotation("target-node-labels", "")},
		{"nlb-udp", setAnnotation("healthcheck-port", "30990")},
	}
}

// changed is a Service of testdata and what is changed of it.
type changed struct {
	name   string
	change func(*corev1.Service)
}

// partByScheme parts the Services whose scheme was changed, which no live load balancer takes
// over, from the others.
func partByScheme(services []corev1.Service) (applied, unapplied []corev1.Service) {
	for _, s := range services {
		if s.Name == "nlb-internal" || s.Name == "clb-internal" {
			unapplied = append(unapplied, s)
		} else {
			applied = append(applied, s)
		}
	}
	return applied, unapplied
}

// compareDrift changes Services while the official controller runs. Where it leaves
// something that we would not, the plan shows it, and a flag decides.
func compareDrift(t *testing.T, results *kit.Table) {
	w := suite.NewWorld(t, "stock")
	services := changeAll(w, driftingChanges())
	made := w.State()
	checkDrift(w, services, map[string]bool{"nlb-check-numbers": true, "nlb-local": true, "nlb-subnets": true, "nlb-tags": true}, results)

	for range 2 { // what was kept stays kept after a restart
		mark := w.Mark()
		berth := w.Berth("--on-takeover=keep")
		applied, unapplied := partByScheme(services)
		w.Eventually("Berth keeps", w.Programmed(applied...))
		w.Eventually("the scheme is reported", w.NotApplied(unapplied...))
		for _, e := range kit.Writes(w.Settle(mark)) {
			t.Errorf("Berth wrote although it was to keep: %s", kit.Describe(e))
		}
		w.Stop(berth)
	}
	if diff := cmp.Diff(made, w.State()); diff != "" {
		t.Errorf("the cloud changed although Berth was to keep it (-want +got):\n%s", diff)
	}
	results.Add("drift", "--on-takeover=keep", t.Failed(), "no writing call, also after a restart")

	berth := w.Berth("--on-takeover=keep")
	w.Must(w.Change(t.Context(), w.Namespace, "nlb-check-numbers", setAnnotation("healthcheck-healthy-threshold", "5")))
	w.Eventually("a change ends it", func(context.Context) error {
		if state := w.State(); !strings.Contains(state, `"Unhealthy": 6`) {
			return errors.New("the unhealthy threshold is not 6")
		}
		return nil
	})
	w.Stop(berth)
	berth = w.Berth()
	w.Eventually("Berth converges", func(context.Context) error {
		if text, code := w.Command("", "plan", "-A"); code != plan.ExitNothing {
			return fmt.Errorf("exit code %d\n%s", code, text)
		}
		return nil
	})
	w.Stop(berth)
	results.Add("drift", "--on-takeover=converge", t.Failed(), "the plan is empty after it")
}

// changeAll lets the official controller build Services, changes each, and stops it.
func changeAll(w *kit.World, cases []changed) []corev1.Service {
	w.T.Helper()
	var names []string
	for _, c := range cases {
		names = append(names, c.name)
	}
	services := kit.Pick(w.T, w.Services("stock"), names...)
	official := w.Official()
	w.Must(w.Create(w.T.Context(), services...))
	w.Eventually("the official controller builds", w.Addressed(services...))
	mark := w.Mark()
	for i, c := range cases {
		w.Must(w.Change(w.T.Context(), services[i].Namespace, c.name, func(svc *corev1.Service) {
			c.change(svc)
			for k, v := range svc.Annotations {
				svc.Annotations[k] = string(w.Fill([]byte(v)))
			}
		}))
	}
	w.Settle(mark)
	w.Settle(mark) // some changes are refused and tried again
	official.Kill()
	return services
}

// checkDrift compares the Services for which the plan has steps.
func checkDrift(w *kit.World, services []corev1.Service, want map[string]bool, results *kit.Table) {
	w.T.Helper()
	text, code := w.Command("", "plan", "-A", "-o", "json")
	if code != plan.ExitChanges {
		w.T.Errorf("plan: exit code %d", code)
	}
	var doc plan.Document
	w.Must(json.Unmarshal([]byte(text), &doc))
	for _, p := range doc.Plans {
		told := slices.ContainsFunc(p.Problems, func(x plan.Problem) bool { return strings.Contains(x.Text, "--on-takeover=keep") })
		detail := "nothing to do"
		if len(p.Steps) > 0 {
			detail = "drift: " + p.Steps[0].ID
		}
		bad := (len(p.Steps) > 0) != want[p.Owner.Name] || told != want[p.Owner.Name]
		for _, s := range p.Steps {
			bad = bad || s.Impact == plan.Interrupts
		}
		if bad {
			w.T.Errorf("%s: %s, told %t", p.Owner.Name, detail, told)
		}
		results.Add("drift", p.Owner.Name, bad, detail)
	}
	if len(doc.Plans) != len(services) {
		w.T.Errorf("%d plans, want %d", len(doc.Plans), len(services))
	}
}
