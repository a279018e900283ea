package oci_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// refusal is a Service that the cloud does not serve as it is.
type refusal struct {
	name  string
	notes map[string]string
	spec  func(*corev1.ServiceSpec)
	opt   simoci.Options
	fault sim.Fault
	live  bool // it was served before, without notes and spec
}

// cloudRefusals returns failures that only the cloud can detect. Refusals before any
// call are in TestRefused.
func cloudRefusals() []refusal {
	nlb := annotationPairs(prefix+"load-balancer-type", "nlb")
	group := annotationPairs(prefix+"security-rule-management-mode", "NSG")
	said := func(operation string, status int, code, message string) sim.Fault {
		return sim.Fault{Kind: sim.FaultError, Operation: operation, Status: status, Code: code, Message: message}
	}
	return []refusal{
		{name: "no load balancer left", opt: simoci.Options{Limits: simoci.Limits{LoadBalancers: -1}}},
		{name: "no network load balancer left", notes: nlb, opt: simoci.Options{Limits: simoci.Limits{NetworkLoadBalancers: -1}}},
		{name: "no room for a second listener", opt: simoci.Options{Limits: simoci.Limits{Listeners: 1}}},
		{name: "no room for its backends", opt: simoci.Options{Limits: simoci.Limits{Backends: 1}}},
		{name: "no room in a security list", opt: simoci.Options{Limits: simoci.Limits{ListRules: 2}}},
		{name: "no network security group left", notes: group, opt: simoci.Options{Limits: simoci.Limits{NetworkSecurityGroups: -1}}},
		{name: "no room in its security group", notes: group, opt: simoci.Options{Limits: simoci.Limits{GroupRules: 1}}},
		{name: "a shape of which none is left", notes: annotationPairs(oldPrefix+"shape", "100Mbps"), opt: simoci.Options{NoFixedShapes: true}},
		{name: "a shape that is none", notes: annotationPairs(oldPrefix+"shape", "large")},
		{name: "tags of a namespace that is not there", notes: annotationPairs(prefix+"initial-defined-tags-override", `{"nowhere": {"CostCenter": "42"}}`)},
		{name: "a security group of others that is not there", notes: annotationPairs(prefix+"oci-network-security-groups", "ocid1.networksecuritygroup.oc1..none")},
		{name: "a work request that fails", opt: simoci.Options{Breaks: string(props.Service("web", nil).Service.UID)}},
		{name: "no right to make load balancers", fault: said("CreateLoadBalancer", http.StatusNotFound, "NotAuthorizedOrNotFound", "Authorization failed or requested resource not found.")},
		{name: "no right to change listeners", live: true, fault: said("CreateListener", http.StatusNotFound, "NotAuthorizedOrNotFound", "Authorization failed or requested resource not found."),
			spec: func(s *corev1.ServiceSpec) {
				s.Ports = append(s.Ports, corev1.ServicePort{Name: "more", Port: 8443, NodePort: 31999, Protocol: corev1.ProtocolTCP})
			}},
		{name: "a key that is not known", fault: said("CreateLoadBalancer", http.StatusUnauthorized, "NotAuthenticated", "The required information to complete authentication was not provided or was incorrect.")},
		{name: "a subnet without free addresses", fault: said("CreateLoadBalancer", http.StatusBadRequest, "InvalidParameter", "Subnet has insufficient free IP addresses")},
		{name: "a cloud that is out of order", fault: said("CreateLoadBalancer", http.StatusServiceUnavailable, "ServiceUnavailable", "The service is currently unavailable.")},
	}
}

// made are parts of texts that are others in each run.
var made = regexp.MustCompile(`ocid1\.[a-z]+\.oc1\.[a-z0-9-]*\.[a-z0-9]+|opc-request-id[: ]*[A-Za-z0-9/-]+|[0-9A-F]{32}(/[0-9A-F]{32})*`)

// TestTold verifies the messages for a Service that the cloud cannot serve as written.
func TestTold(t *testing.T) {
	all := cloudRefusals()
	texts := make([]string, len(all))
	t.Run("all", func(t *testing.T) {
		for i, c := range all {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				texts[i] = c.told(t)
			})
		}
	})
	golden.Check(t, "testdata/told.golden", strings.Join(texts, ""))
}

// told returns the final message for the Service, and its address at that time.
func (c refusal) told(t *testing.T) string {
	c.opt.Seed = simoci.SeedOptions{Nodes: 2, DualStack: true}
	s := subject{running: simtest.Start(t, c.opt)}
	if c.live {
		serveAll(t, s, s.Nodes(), props.Service("web", nil).Service)
	}
	if c.fault.Operation != "" {
		if _, err := s.Control().Faults.Add(c.fault); err != nil {
			t.Fatal(err)
		}
	}
	r := reconcile.New(s.Open(t), reconcile.Options{})
	r.SetNodes(s.Nodes())
	svc := props.Service("web", c.notes, func(spec *corev1.ServiceSpec) {
		if c.spec != nil {
			c.spec(spec)
		}
	}).Service
	var last reconcile.Result
	for range 6 { // a work request is waited for
		d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
		if err != nil {
			return fmt.Sprintf("== %s\n  %s\n", c.name, made.ReplaceAllString(err.Error(), "ID"))
		}
		if last = r.Run(t.Context(), d, func(plan.Gate) time.Duration { return 0 }); last.Clean || last.Err != nil {
			break
		}
	}
	var lines []string
	for _, p := range last.Draft.Problems {
		lines = append(lines, p.Severity.String()+": "+p.String())
	}
	var list interface{ WrappedErrors() []error }
	if errors.As(last.Err, &list) {
		for _, err := range list.WrappedErrors() {
			lines = append(lines, err.Error())
		}
	} else if last.Err != nil {
		lines = append(lines, last.Err.Error())
	}
	text := "== " + c.name + "\n"
	for _, line := range lines {
		text += "  " + made.ReplaceAllString(line, "ID") + "\n"
	}
	return text + fmt.Sprintf("  addresses: %d\n", len(last.Status.Ingress))
}
