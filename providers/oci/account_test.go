package oci_test

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
)

const accountKey = prefix + "workload-service-account"

// accounts are the ServiceAccounts of a cluster, as the API server gives tokens of them.
type accounts struct {
	there []string      // names
	life  time.Duration // of tokens; 0: an hour
	asked []string      // namespaces and names of tokens that were requested
	uid   string        // of all of them
	down  bool          // the API server does not answer
}

func (a *accounts) token(_ context.Context, namespace, name string) (providers.AccountToken, error) {
	if a.down {
		return providers.AccountToken{}, fault.New(fault.Unavailable, "the API server does not answer")
	}
	if !slices.Contains(a.there, name) {
		return providers.AccountToken{}, fault.New(fault.NotFound, "service account %s/%s is not found", namespace, name)
	}
	a.asked = append(a.asked, namespace+"/"+name)
	until := time.Now().Add(cmp.Or(a.life, time.Hour))
	return providers.AccountToken{Text: accountToken(namespace, name, until), UID: a.uid, Until: until}, nil
}

// startWithAccounts starts a cloud that rejects unsigned calls, with the
// ServiceAccounts of a cluster, and a process that has two nodes.
func startWithAccounts(t *testing.T, there ...string) (subject, *accounts, *reconcile.Reconciler) {
	t.Helper()
	running := startGuarded(t)
	startProxy(t, running)
	a := &accounts{there: there}
	s := subject{running: running, tokens: a.token}
	block, _ := pem.Decode(key())
	own, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	running.Cloud.Trust(running.Cloud.Seed.Tenancy+"/"+running.Cloud.Seed.User+"/20:3b:97:13:55:1c", &own.PublicKey)
	return s, a, props.Process(t, s.Open(t), s.Nodes())
}

// callers returns the distinct identities that have called an operation. The empty identity
// is the key of the configuration; the empty operation matches every call except logins.
func (s subject) callers(operation string) []string {
	var out []string
	for _, e := range s.Control().Journal.Entries() {
		if operation == e.Operation || operation == "" && e.Service != "auth" {
			out = append(out, e.Request["(workload)"])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// serviceWithAccount returns a Service that names a ServiceAccount.
func serviceWithAccount(name, account string, beyond int32, pairs ...string) *corev1.Service {
	return renameService(props.Service("web", annotationPairs(append(pairs, accountKey, account)...)).Service, name, beyond)
}

// TestServiceAccount: all calls for a Service are made as the ServiceAccount that it names
// in its namespace, of both products, with rules in lists and with a group; those for
// others are not.
func TestServiceAccount(t *testing.T) {
	for name, wish := range map[string][]string{"lb": nil, "nlb": {prefix + "load-balancer-type", "nlb", prefix + "security-rule-management-mode", "NSG"}} {
		t.Run(name, func(t *testing.T) { calledAs(t, wish) })
	}
}

func calledAs(t *testing.T, wish []string) {
	t.Helper()
	s, a, r := startWithAccounts(t, "balancers")
	svc := serviceWithAccount("web", "balancers", 0, wish...)
	runUntilDone(t, s, r, reconcile.Job{Service: svc})
	r.SetNodes(s.Nodes()[1:])
	runUntilDone(t, s, r, reconcile.Job{Service: svc})
	svc.Spec.Ports = svc.Spec.Ports[:1]
	runUntilDone(t, s, r, reconcile.Job{Service: svc})
	runUntilDone(t, s, r, reconcile.Job{Service: svc, Release: true})
	if got := s.callers(""); !slices.Equal(got, []string{"shop/balancers"}) {
		t.Errorf("calls were made by %q", got)
	}
	if !slices.Equal(a.asked, []string{"shop/balancers"}) {
		t.Errorf("tokens were requested of %q", a.asked)
	}
	s.Control().Journal.Reset()
	plain := serviceWithAccount("plain", "", 0, wish...)
	delete(plain.Annotations, accountKey)
	runUntilDone(t, s, r, reconcile.Job{Service: plain})
	if got := s.callers(""); !slices.Equal(got, []string{""}) {
		t.Errorf("calls for a Service that names no account were made by %q", got)
	}
}

// TestServiceAccountRights: what a ServiceAccount may do decides, and not what the
// controller may.
func TestServiceAccountRights(t *testing.T) {
	s, _, r := startWithAccounts(t, "balancers", "nobody")
	who := " in compartment c where all { request.principal.type = 'workload', request.principal.namespace = 'shop', request.principal.service_account = 'balancers', request.principal.cluster_id = 'ocid1.cluster.oc1..c' }\n"
	policy := "Allow any-user to {NETWORK_LOAD_BALANCER_INSPECT, LOAD_BALANCER_CREATE, LOAD_BALANCER_INSPECT, LOAD_BALANCER_READ, LOAD_BALANCER_UPDATE, SUBNET_READ}" + who + "Allow any-user to use virtual-network-family" + who
	if err := s.running.Cloud.SetPolicy([]byte(policy)); err != nil {
		t.Fatal(err)
	}
	none := []string{prefix + "security-rule-management-mode", "None"}
	runUntilDone(t, s, r, reconcile.Job{Service: serviceWithAccount("web", "balancers", 0, none...)})
	other := serviceWithAccount("plain", "", 5, none...)
	delete(other.Annotations, accountKey)
	for _, svc := range []*corev1.Service{serviceWithAccount("others", "nobody", 10, none...), other} {
		d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
		if err == nil {
			err = r.Run(t.Context(), d, nil).Err
		}
		if err == nil || !strings.Contains(err.Error(), "NotAuthorizedOrNotFound") {
			t.Errorf("%s, whose identity has no rights: %v", svc.Name, err)
		}
	}
}

// TestServiceAccountGone verifies that a Service without its ServiceAccount is not served.
// Its existing resources are deleted with the controller's own identity.
func TestServiceAccountGone(t *testing.T) {
	s, a, r := startWithAccounts(t, "balancers")
	a.life = 10 * time.Minute // so each call asks for a new one
	svc := serviceWithAccount("web", "balancers", 0)
	runUntilDone(t, s, r, reconcile.Job{Service: svc})
	missing := serviceWithAccount("missing", "other", 5)
	if _, err := r.Draft(t.Context(), reconcile.Job{Service: missing}); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "service account shop/other is not found, which "+accountKey+" names") {
		t.Errorf("told %v", err)
	}
	second := serviceWithAccount("second", "balancers", 10)
	runUntilDone(t, s, r, reconcile.Job{Service: second})
	a.there = nil
	again := props.Process(t, s.Open(t), s.Nodes())
	s.Control().Journal.Reset()
	runUntilDone(t, s, again, reconcile.Job{Service: svc, Release: true})
	runUntilDone(t, s, r, reconcile.Job{Service: second, Release: true}) // by the process that has served it
	if got := s.callers("DeleteLoadBalancer"); !slices.Equal(got, []string{""}) {
		t.Errorf("deleted by %q", got)
	}
}

// TestServiceAccountGoesMeanwhile verifies that the token of a ServiceAccount is not used
// more than a few minutes after its deletion, and not at all once another ServiceAccount of
// the same name exists. Before that no request is made; an API server that does not answer
// changes nothing.
func TestServiceAccountGoesMeanwhile(t *testing.T) {
	s, a, _ := startWithAccounts(t, "balancers")
	now := time.Now()
	s.now, a.uid = func() time.Time { return now }, "first"
	bound := s.Open(t)
	logins := func() int { return s.Control().Journal.Counts()["auth.CreateWorkloadToken"] }
	try := func() error {
		_, err := props.Process(t, bound, s.Nodes()).Draft(t.Context(), reconcile.Job{Service: serviceWithAccount("web", "balancers", 0)})
		return err
	}
	for _, c := range []struct {
		when          string
		after         time.Duration
		change        func()
		asked, logins int // in all
		gone          bool
	}{
		{"at first", 0, func() {}, 1, 1, false},
		{"soon after it has gone", 4 * time.Minute, func() { a.there = nil }, 1, 1, false},
		{"later", time.Minute, func() {}, 1, 1, true},
		{"at once", 0, func() {}, 1, 1, true},
		{"when there is another one", 0, func() { a.there, a.uid = []string{"balancers"}, "second" }, 2, 2, false},
		{"while the API server is down", 6 * time.Minute, func() { a.down = true }, 2, 2, false},
		{"when it was created again meanwhile", 0, func() { a.down, a.uid = false, "third" }, 4, 3, false},
		{"when it is the same", 6 * time.Minute, func() {}, 5, 3, false},
	} {
		now = now.Add(c.after)
		c.change()
		err := try()
		if gone := fault.Is(err, fault.Denied) && strings.Contains(err.Error(), "service account shop/balancers is not found"); gone != c.gone || err != nil && !gone {
			t.Errorf("%s: told %v", c.when, err)
		}
		if len(a.asked) != c.asked || logins() != c.logins {
			t.Errorf("%s: %d tokens were requested, and %d times was one brought to the cloud, want %d and %d", c.when, len(a.asked), logins(), c.asked, c.logins)
		}
	}
}

// TestServiceAccountOfAnother verifies that a changed ServiceAccount name changes the
// calling identity from the next reconcile on, and that an invalid name changes nothing.
func TestServiceAccountOfAnother(t *testing.T) {
	s, _, r := startWithAccounts(t, "balancers", "others")
	svc := serviceWithAccount("web", "balancers", 0)
	runUntilDone(t, s, r, reconcile.Job{Service: svc})
	for _, bad := range []string{"", "kube-system/admin", "No Name", "a..b", "-a", "a-", strings.Repeat("a", 254)} {
		svc = svc.DeepCopy()
		svc.Annotations[accountKey] = bad
		d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
		if err != nil || !d.Problems.Errors() {
			t.Errorf("%q: %v, %v", bad, err, d.Problems)
		}
	}
	svc = svc.DeepCopy()
	svc.Annotations[accountKey] = "others"
	svc.Spec.Ports = svc.Spec.Ports[:1]
	s.Control().Journal.Reset()
	runUntilDone(t, s, r, reconcile.Job{Service: svc})
	if got := s.callers(""); !slices.Equal(got, []string{"shop/others"}) {
		t.Errorf("calls were made by %q", got)
	}
}

// listed are the security lists as they are.
func (s subject) listed(t *testing.T) string {
	t.Helper()
	raw, err := json.Marshal(s.Control().State())
	var cloud struct {
		Lists []struct {
			Ingress any `json:"ingressSecurityRules"`
			Egress  any `json:"egressSecurityRules"`
		} `json:"securitylist"`
	}
	if err != nil || json.Unmarshal(raw, &cloud) != nil || len(cloud.Lists) == 0 {
		t.Fatal(err, "no lists")
	}
	return fmt.Sprint(cloud.Lists)
}

// TestServiceAccountsShareAList: rules of Services of two identities, and of none, get into
// one security list, and out of it.
func TestServiceAccountsShareAList(t *testing.T) {
	s, _, r := startWithAccounts(t, "balancers", "others")
	plain := serviceWithAccount("plain", "", 20)
	delete(plain.Annotations, accountKey)
	all := []*corev1.Service{serviceWithAccount("web", "balancers", 0), serviceWithAccount("shop", "others", 10), plain}
	before := s.listed(t)
	for _, svc := range all {
		runUntilDone(t, s, r, reconcile.Job{Service: svc})
	}
	if got := s.callers("UpdateSecurityList"); !slices.Equal(got, []string{"", "shop/balancers", "shop/others"}) {
		t.Errorf("lists were written by %q", got)
	}
	for _, svc := range all {
		runUntilDone(t, s, r, reconcile.Job{Service: svc, Release: true})
	}
	if after := s.listed(t); after != before {
		t.Errorf("rules are\n%s\nwant\n%s", after, before)
	}
}

// TestServiceAccountRefused: no call is made as a ServiceAccount that the policy refuses, for
// a new Service, for one with a bad value besides, and for one whose load balancer exists and
// follows the nodes.
func TestServiceAccountRefused(t *testing.T) {
	s, a, r := startWithAccounts(t, "balancers")
	live := serviceWithAccount("live", "balancers", 0)
	delete(live.Annotations, accountKey)
	runUntilDone(t, s, r, reconcile.Job{Service: live})
	live.Annotations[accountKey] = "balancers"
	for name, svc := range map[string]*corev1.Service{
		"new": serviceWithAccount("new", "balancers", 1), "with a bad value": serviceWithAccount("bad", "balancers", 2, oldPrefix+"connection-idle-timeout", "soon"), "live": live,
	} {
		t.Run(name, func(t *testing.T) {
			s.Control().Journal.Reset()
			refusing := reconcile.New(s.Open(t), reconcile.Options{Admit: func(_ *corev1.Service, reach providers.Reach) annotations.Problems {
				var out annotations.Problems
				for _, n := range reach.Names {
					out = append(out, annotations.Problem{Key: n.Key, Value: n.Value, Message: "is refused by the policy"})
				}
				return out
			}})
			refusing.SetNodes(s.Nodes()[1:])
			refusing.AllKnown()
			if _, err := props.Work(t.Context(), refusing, reconcile.Job{Service: svc}); err != nil {
				t.Fatal(err)
			}
			if len(a.asked) > 0 {
				t.Errorf("tokens were requested of %q", a.asked)
			}
			if got := s.callers(""); !slices.Equal(got, []string{""}) {
				t.Errorf("calls were made by %q, want them by the configured identity", got)
			}
			if writes := s.Control().Journal.Counts(); name == "live" && writes["loadbalancer.UpdateBackendSet"] == 0 {
				t.Errorf("the live load balancer does not follow the nodes: %v", writes)
			}
		})
	}
}
