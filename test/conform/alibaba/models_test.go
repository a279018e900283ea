package conform

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/docs/permissions"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/conform/models"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// recorded is a simulated account whose calls are compared with the models.
type recorded struct {
	*simalibaba.Cloud
	record models.Recorder
	url    string
}

func (r *recorded) Config(testing.TB) []byte { return r.Seed.CloudConf(r.url) }

func (r *recorded) Env() providers.Env { return account.Env() }

func (r *recorded) KubernetesNodes() []corev1.Node { return r.Seed.KubernetesNodes() }

func (r *recorded) Control() *sim.Control { return &r.Cloud.Control }

func (r *recorded) Forwards() []account.Forward { return nil }

// quotaAction is an action of berth doctor alone.
const quotaAction = "quotas.ListProductQuotas"

// TestModels serves and changes Services of both kinds, and checks the setup as berth doctor does. Requests and answers must
// fit the models, and every action of the documented role must occur.
func TestModels(t *testing.T) {
	wanted := roleActions(t)
	all, err := models.Load(t.Context(), "sdk", append(slices.Clone(wanted), quotaAction)...)
	if err != nil || len(all) < 50 {
		t.Fatalf("%d models, %v", len(all), err)
	}
	virtual.Test(t, func(t *testing.T) {
		cloud := account.Cloud[simalibaba.Options, *recorded]{Entry: providers.EntryOf(alibaba.Cloud()), Start: func(t testing.TB, opt simalibaba.Options) *recorded {
			r := &recorded{Cloud: virtual.Fresh(t, simalibaba.New, opt)}
			r.record = models.Recorder{Simulator: r.Cloud, Judge: judge(all).Judge}
			r.url = virtual.Start(t, &r.record)
			return r
		}}
		w := cloud.Begin(t, simalibaba.Options{Gates: "IPv6DualStack=true", Seed: simalibaba.SeedOptions{Nodes: 3, Users: true}})
		for n, c := range slices.Concat(classicCases(w.Sim.Seed), networkCases(w.Sim.Seed)) {
			c.Service.Name, c.Service.UID = c.Name, account.UID(n)
			changeAll(w, c)
		}
		served := w.Sim.record.Calls()
		if d := cmp.Diff(wanted, served); d != "" {
			t.Errorf("actions (-of the role +made):\n%s", d)
		}
		roles, err := permissions.Of("alibaba")
		if err != nil {
			t.Fatal(err)
		}
		w.Open(t).Diagnose(t.Context(), roles) // its calls are compared as well
		w.Sim.record.Check(t, knownGaps())
		alone := slices.DeleteFunc(w.Sim.record.Calls(), func(name string) bool { return slices.Contains(served, name) })
		if d := cmp.Diff([]string{quotaAction}, alone); d != "" {
			t.Errorf("actions of berth doctor alone (-want +got):\n%s", d)
		}
	})
}

// roleActions returns the actions of the documented role, sorted.
func roleActions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/permissions/alibaba.json")
	if err != nil {
		t.Fatal(err)
	}
	var role struct {
		Statement []struct {
			Action []string `json:"Action"`
		} `json:"Statement"`
	}
	if err := json.Unmarshal(text, &role); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range role.Statement {
		for _, action := range s.Action {
			out = append(out, strings.Replace(action, ":", ".", 1))
		}
	}
	slices.Sort(out)
	return out
}

// Prefixes of keys.
const (
	domain = "service.beta.kubernetes.io/"
	prefix = domain + "alibaba-cloud-loadbalancer-"
)

// withKeys returns annotations by pairs of the ends of keys and values.
func withKeys(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[prefix+pairs[i]] = pairs[i+1]
	}
	return out
}

// lifeCase is a Service, and the annotations that it has afterwards.
type lifeCase struct {
	props.Case

	later map[string]string
	seen  func(*simalibaba.Cloud) // what the user does in between; nil: nothing
}

// listChecks returns keys of health checks by HTTP, with their values.
func listChecks() []string {
	return []string{
		"health-check-flag", "on", "health-check-type", "http", "health-check-uri", "/live", "health-check-connect-port", "8080", "healthy-threshold", "5", "unhealthy-threshold", "5",
		"health-check-interval", "5", "health-check-domain", "shop.example.com", "health-check-httpcode", "http_2xx,http_3xx", "health-check-method", "get",
	}
}

// classicCases returns Services with Classic Load Balancers.
func classicCases(seed simalibaba.Seed) []lifeCase {
	one := func(name string, later map[string]string, pairs []string, changes ...func(*corev1.ServiceSpec)) lifeCase {
		return lifeCase{Case: props.Service(name, withKeys(pairs...), changes...), later: later}
	}
	web := append(listChecks(), "protocol-port", "http:80,https:443", "cert-id", seed.Certificates[0], "domain-extensions", "a.example.com:"+seed.Certificates[0])
	kept := one("kept", nil, nil)
	kept.later = withKeys("preserve-lb-on-delete", "true")
	pods := one("pods", nil, nil)
	pods.Service.Annotations[domain+"backend-type"] = "eni"
	return []lifeCase{
		one("plain", withKeys("name", "shop", "additional-resource-tags", "Team=web", "delete-protection", "off", "modification-protection", "NonProtection"), nil, props.UDP),
		one("tuned", withKeys("scheduler", "rr", "external-ip-type", "eip"), append(listChecks(), "scheduler", "wlc", "persistence-timeout", "60", "established-timeout", "60", "connection-drain", "on", "connection-drain-timeout", "30", "proxy-protocol", "on",
			"health-check-connect-timeout", "9", "acl-status", "on", "acl-id", seed.Lists[0], "acl-type", "white", "external-ip-type", "eip"), props.UDP),
		one("web", withKeys(append(web, "idle-timeout", "30", "domain-extensions", "a.example.com:"+seed.Certificates[1])...), append(web, "idle-timeout", "20", "request-timeout", "20", "sticky-session", "on", "sticky-session-type", "insert",
			"cookie-timeout", "60", "xforwardedfor-proto", "on", "xforwardedfor-slbport", "on", "xforwardedfor-clientsrcport", "on", "tls-cipher-policy", "tls_cipher_policy_1_2", "http2-enabled", "off", "health-check-timeout", "9")),
		one("other-domain", withKeys(append(web, "domain-extensions", "b.example.com:"+seed.Certificates[0])...), web),
		one("redirect", nil, []string{"protocol-port", "http:80,https:443", "cert-id", seed.Certificates[0], "forward-port", "80:443"}),
		one("sized", withKeys("instance-charge-type", "PayBySpec", "spec", "slb.s2.small", "charge-type", "paybybandwidth", "bandwidth", "30"), nil),
		one("larger", withKeys("instance-charge-type", "PayBySpec", "spec", "slb.s2.medium"), []string{"instance-charge-type", "PayBySpec", "spec", "slb.s2.small"}),
		one("intranet", withKeys("address-type", "intranet", "default-weight", "50", "scheduler", "wlc"), []string{"address-type", "intranet", "vswitch-id", seed.VSwitches[1].ID}),
		one("existing", nil, []string{"id", seed.Users, "force-override-listeners", "true"}),
		kept, pods,
	}
}

// networkCases returns Services with network load balancers.
func networkCases(seed simalibaba.Seed) []lifeCase {
	one := func(name string, later map[string]string, pairs []string, changes ...func(*corev1.ServiceSpec)) lifeCase {
		c := lifeCase{Case: props.Service(name, withKeys(pairs...), changes...), later: later}
		class := "alibabacloud.com/nlb"
		c.Service.Spec.LoadBalancerClass = &class
		for _, notes := range []map[string]string{c.Service.Annotations, c.later} {
			if notes != nil && notes[prefix+"zone-maps"] == "" {
				notes[prefix+"zone-maps"] = zonesOf(seed, 1, 2)
			}
		}
		return c
	}
	secure := []string{"protocol-port", "tcpssl:443", "cert-id", seed.Certificates[0]}
	pods := one("net-pods", nil, nil)
	pods.Service.Annotations[domain+"backend-type"] = "eni"
	renamed := one("net-ranges", withKeys("default-weight", "50"), nil, func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"203.0.113.0/24", "2001:db8::/32"} })
	renamed.seen = func(c *simalibaba.Cloud) { c.RenameSecurityGroups("other") }
	stopped := one("net-stopped", nil, nil)
	stopped.seen = func(c *simalibaba.Cloud) { c.StopNetListener("k8s.80.TCP.net-stopped.shop.berthdemo") }
	return []lifeCase{
		one("net-plain", withKeys("name", "shop", "additional-resource-tags", "Team=web", "cross-zone-enabled", "off", "bandwidth-package-id", "cbwp-1", "security-group-ids", seed.UsersSecurity), nil, props.UDP),
		one("net-zones", withKeys("zone-maps", zonesOf(seed, 0, 2), "bandwidth-package-id", "", "security-group-ids", "", "address-type", "intranet"), []string{"bandwidth-package-id", "cbwp-1", "security-group-ids", seed.UsersSecurity}),
		one("net-tuned", withKeys("scheduler", "rr", "idle-timeout", "90"), append(listChecks(), "scheduler", "wlc", "connection-drain", "on", "connection-drain-timeout", "30", "proxy-protocol", "on", "ppv2-pvl-ep-id-enabled", "on", "ppv2-pvl-vpc-id-enabled", "on", "idle-timeout", "60", "cps", "100", "preserve-client-ip", "off", "health-check-http-version", "HTTP1.1", "health-check-connect-timeout", "9")),
		one("net-secure", withKeys(append(secure, "additional-cert-ids", "")...), append(secure, "additional-cert-ids", seed.Certificates[1], "tls-cipher-policy", "tls_cipher_policy_1_2", "alpn", "on", "alpn-policy", "HTTP2Only", "cacert", "on", "cacert-id", seed.Certificates[1])),
		one("net-dual", withKeys("ip-version", "DualStack", "ipv6-address-type", "intranet"), []string{"ip-version", "DualStack", "ipv6-address-type", "internet"}),
		one("net-address", nil, []string{"server-group-type", "ip"}),
		one("net-kept", withKeys("preserve-lb-on-delete", "true"), nil),
		one("net-existing", nil, []string{"id", seed.UsersNet, "force-override-listeners", "true"}),
		renamed, stopped, pods,
	}
}

func zonesOf(seed simalibaba.Seed, places ...int) string {
	var out []string
	for _, i := range places {
		out = append(out, seed.VSwitches[i].Zone+":"+seed.VSwitches[i].ID)
	}
	return strings.Join(out, ",")
}

// serveAll works on a Service until it has its desired state.
func serveAll(w *account.World[*recorded], svc *corev1.Service) reconcile.Result {
	var last reconcile.Result
	var err error
	for range 12 {
		if last, err = w.Once(svc, false); err == nil && last.Clean {
			return last
		}
	}
	w.Errorf("%s %v: not served: %v, %v, %v, wait %v", svc.Name, svc.Annotations, err, last.Err, last.Draft.Problems.Strings(), last.Wait)
	for _, step := range last.Draft.Plan.Steps {
		w.Error(step.ID, step.Changes, step.Reason)
	}
	return last
}

// changeAll serves a Service, changes what can change, and releases it.
func changeAll(w *account.World[*recorded], c lifeCase) {
	svc := c.Service
	addresses := []string{simalibaba.PodAddress(0, 0), simalibaba.PodAddress(1, 0)}
	w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, addresses...)}
	res := serveAll(w, svc)
	if gates := w.Process.PodGates(res); len(gates) > 0 {
		if _, err := w.Process.MembersOf(w.Context(), res, []stack.Key{gates[0].Of}); err != nil {
			w.Error(err)
		}
	}
	w.Process.SetNodes(w.Machines[1:])
	w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, addresses[0])}
	serveAll(w, svc)
	w.Process.SetNodes(w.Machines)
	if c.later != nil {
		w.Restart(svc) // so that everything is read
		svc.Annotations = maps.Clone(c.later)
		if ranges := svc.Spec.LoadBalancerSourceRanges; len(ranges) > 0 {
			svc.Spec.LoadBalancerSourceRanges = ranges[:1]
		}
		serveAll(w, svc)
	}
	if c.seen != nil {
		c.seen(w.Sim.Cloud)
		w.Restart(svc)
	}
	full := svc.Spec.Ports
	if svc.Name != "redirect" { // both ports belong together
		svc.Spec.Ports = full[:1]
		delete(svc.Annotations, prefix+"forward-port")
		serveAll(w, svc)
	}
	svc.Spec.Ports = full
	serveAll(w, svc)
	w.Release(svc)
}
