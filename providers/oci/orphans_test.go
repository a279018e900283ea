package oci_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// serveAll reconciles Services until all are in their desired state, in one process
// with some of the nodes.
func serveAll(t *testing.T, s subject, nodes []nodeports.Node, services ...*corev1.Service) *reconcile.Reconciler {
	t.Helper()
	var jobs []reconcile.Job
	for _, svc := range services {
		jobs = append(jobs, reconcile.Job{Service: svc})
	}
	r := props.Process(t, s.Open(t), nodes, jobs...)
	for _, job := range jobs {
		runUntilDone(t, s, r, job)
	}
	return r
}

// newService returns a Service of its own identity and ports, the latter in pairs from
// a number.
func newService(name, uid string, port int32, pairs ...string) *corev1.Service {
	svc := props.Service(name, annotationPairs(pairs...)).Service
	svc.Name, svc.UID = name, types.UID("00000000-0000-4000-8000-0000000000"+uid)
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].Port, svc.Spec.Ports[i].NodePort = port+int32(i), 20000+port+int32(i)
	}
	return svc
}

// dump is the whole cloud but its memory of work requests, and but for versions and the
// order of rules.
func (s subject) dump(t *testing.T) map[string][]string {
	t.Helper()
	raw, err := json.Marshal(s.Control().State())
	var tables map[string][]map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &tables)
	}
	out := map[string][]string{}
	for table, rows := range tables {
		for _, row := range rows {
			delete(row, "etag")
			for _, key := range []string{"ingressSecurityRules", "egressSecurityRules"} {
				if rules, ok := row[key].([]any); ok {
					slices.SortFunc(rules, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				}
			}
			out[table] = append(out[table], fmt.Sprint(row))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOrphans verifies that load balancers of both products without a Service are listed
// and deleted, with their rules and groups. Load balancers of existing Services are
// retained, with the rules that they share, and so are the ones of another cluster with
// other nodes.
func TestOrphans(t *testing.T) {
	s := subject{running: simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 4}})}
	simtest.ForgetWork(s.running.Cloud)
	nodes := s.Nodes()
	lives, foreign := newService("lives", "01", 8000), newService("foreign", "02", 8100)
	serveAll(t, s, nodes[:2], lives)
	serveAll(t, s, nodes[2:], foreign)
	before := s.dump(t)
	kind := prefix + "load-balancer-type"
	serveAll(t, s, nodes[:2], lives, newService("classic", "03", 9000), newService("network", "04", 9100, kind, "nlb"),
		newService("group", "05", 9200, kind, "nlb", prefix+"security-rule-management-mode", "NSG"))

	live := providers.Live{Services: []stack.Owner{{Namespace: lives.Namespace, Name: lives.Name, UID: string(lives.UID)}}, Nodes: nodes[:2]}
	r := serveAll(t, s, nodes[:2], lives)
	var owners []string
	for _, owner := range props.Sweep(t, r, live) {
		owners = append(owners, owner.String())
	}
	slices.Sort(owners)
	if d := cmp.Diff([]string{"00000000-0000-4000-8000-000000000003", "shop/group", "shop/network"}, owners); d != "" {
		t.Errorf("orphans (-want +got):\n%s", d)
	}
	if d := cmp.Diff(before, s.dump(t)); d != "" {
		t.Errorf("the cloud is not as it was (-before +after):\n%s", d)
	}
}
