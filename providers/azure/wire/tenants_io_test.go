package wire

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/test/sessions"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/simtest"
)

// tenants are two clouds behind one resource manager, each with a subscription and
// a tenant of its own. It notes which tokens come for which subscription.
type tenants struct {
	near, far *simazure.Cloud

	mu     sync.Mutex
	tokens map[string]map[string]bool // tenants of tokens, by subscription; "+" before auxiliary ones
}

func (w *tenants) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	subscription := model.SegmentAfter(r.URL.Path, "subscriptions")
	to := w.near
	if subscription == w.far.Seed.Subscription || strings.Contains(r.URL.Path, w.far.Seed.Tenant) {
		to = w.far
	}
	if subscription != "" {
		w.mu.Lock()
		if w.tokens[subscription] == nil {
			w.tokens[subscription] = map[string]bool{}
		}
		w.tokens[subscription][w.tenantOf(r.Header.Get("Authorization"))] = true
		for _, also := range r.Header.Values("X-Ms-Authorization-Auxiliary") {
			w.tokens[subscription]["+"+w.tenantOf(also)] = true
		}
		w.mu.Unlock()
	}
	to.ServeHTTP(out, r)
}

// tenantOf names the tenant in a token.
func (w *tenants) tenantOf(header string) string {
	parts := strings.Split(strings.TrimPrefix(header, "Bearer "), ".")
	if len(parts) != 3 {
		return header
	}
	text, _ := base64.RawURLEncoding.DecodeString(parts[1])
	claims, _ := model.ParseObject(text)
	return map[string]string{w.near.Seed.Tenant: "near", w.far.Seed.Tenant: "far"}[claims.Text("tid")]
}

// TestTwoTenants: network resources are in a subscription of another tenant, whose
// calls have that tenant's tokens; the others' have their own, and one of the
// other tenant along.
func TestTwoTenants(t *testing.T) {
	r, w := newTenants(t, simazure.Options{}, simazure.Options{})
	near, far := w.near, w.far
	for n, kind := range []string{model.Public, model.Internal} {
		r.runAll(false, numberedService(n, kind, nil))
		r.runAll(true, numberedService(n, kind, nil))
	}
	set := model.ARMID(near.Seed.Subscription, near.Seed.ResourceGroup, "x", "y")
	set = strings.Replace(set, "Microsoft.Network/x/y", "Microsoft.Compute/virtualMachineScaleSets/"+near.Seed.ScaleSet, 1)
	if o, err := r.Session.get(t.Context(), set, computeVersion); err != nil || o == nil {
		t.Fatal(o, err)
	}
	want := map[string]map[string]bool{near.Seed.Subscription: {"near": true, "+far": true}, far.Seed.Subscription: {"far": true}}
	if d := cmp.Diff(want, w.tokens); d != "" {
		t.Errorf("tokens by subscription (-want +got):\n%s", d)
	}
}

// newTenants returns a session whose nodes are in one cloud and whose network is in another.
func newTenants(t *testing.T, nearby, distant simazure.Options) (*rig, *tenants) {
	nearby.Seed.Nodes, nearby.ARM = 2, simarm.Options{Async: simarm.AsyncNone}
	near, err := simazure.New(nearby)
	if err != nil {
		t.Fatal(err)
	}
	distant.Subscription, distant.Tenant = "99999999-2222-4333-8444-555555555555", "88888888-7777-4888-9999-aaaaaaaaaaaa"
	distant.ARM = simarm.Options{Async: simarm.AsyncHeader}
	far, err := simazure.New(distant)
	if err != nil {
		t.Fatal(err)
	}
	w := &tenants{near: near, far: far, tokens: map[string]map[string]bool{}}
	r := &rig{Rig: sessions.New[model.Config, *model.Facts, *Session](t, model.Cloud(), near.Seed.KubernetesNodes()), sim: &simtest.Running{Cloud: far}}
	conf, err := near.Seed.CloudConf(serveTrusted(t, w))
	if err != nil {
		t.Fatal(err)
	}
	more := `{"networkResourceTenantID": "` + far.Seed.Tenant + `", "networkResourceSubscriptionID": "` + far.Seed.Subscription + `",`
	config := readConfig(t, strings.Replace(string(conf), "{", more, 1))
	session, err := openSession(t.Context(), config, providers.Env{Cluster: "kubernetes", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	r.Use(session, config)
	return r, w
}

// TestZonesOfNetwork: public IPs and frontends get the zones of the subscription in which
// they are created, which may differ from those of the nodes' subscription.
func TestZonesOfNetwork(t *testing.T) {
	for name, c := range map[string]struct{ near, far bool }{"network without zones": {true, false}, "nodes without zones": {false, true}} {
		t.Run(name, func(t *testing.T) {
			nearby, distant := simazure.Options{NoZones: !c.near}, simazure.Options{NoZones: !c.far}
			if !c.near {
				nearby.Seed.NodesAs = simazure.VM
			}
			r, w := newTenants(t, nearby, distant)
			r.runAll(false, numberedService(1, model.Public, nil), numberedService(2, model.Internal, nil))
			id := w.far.Seed.Subscription
			ips, _, err := r.Session.list(t.Context(), groupPath(id, r.Config.Group, "publicIPAddresses"), networkVersion, nil)
			if err != nil || len(ips) != 1 {
				t.Fatal(ips, err)
			}
			lb, err := r.Session.get(t.Context(), r.Config.BalancerID("kubernetes-internal"), networkVersion)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range append(lb.Props().List(model.ListFrontends), ips...) {
				if zoned := len(o.Texts("zones")) > 0; zoned != c.far {
					t.Errorf("%s: zones %v", o.Text("name"), o.Texts("zones"))
				}
			}
		})
	}
}

// serveTrusted serves over HTTPS, and makes every client of this process trust the
// certificate until the test ends.
func serveTrusted(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	shared, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		t.Fatalf("the default transport is a %T", http.DefaultTransport)
	}
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	trusting := shared.Clone()
	trusting.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	http.DefaultTransport = trusting
	t.Cleanup(func() { http.DefaultTransport = shared })
	return server.URL
}

// TestTenantsRefused verifies that a missing token for a second tenant is reported at
// startup.
func TestTenantsRefused(t *testing.T) {
	two := model.Config{Subscription: "a", NetworkTenant: "far", NetworkSubscription: "b", Auth: model.Auth{Tenant: "near", ClientSecret: "x"}}
	for name, c := range map[string]struct {
		change func(*model.Config)
		want   string
	}{
		"secret": {func(*model.Config) {}, ""},
		"the same tenant": {func(c *model.Config) {
			c.NetworkTenant, c.NetworkSubscription, c.Auth.ManagedIdentity = "NEAR", "", true
		}, ""},
		"managed identity":     {func(c *model.Config) { c.Auth.ManagedIdentity = true }, "aadClientSecret"},
		"workload identity":    {func(c *model.Config) { c.Auth.Workload = true }, "aadClientSecret"},
		"the one subscription": {func(c *model.Config) { c.NetworkSubscription = "" }, "networkResourceSubscriptionID"},
	} {
		cfg := two
		c.change(&cfg)
		err := cfg.CheckTenants()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
}

// TestOwnCloud: where a cloud of one's own is, its file says, or it says itself.
func TestOwnCloud(t *testing.T) {
	running := simtest.Start(t, simazure.Options{})
	file := filepath.Join(t.TempDir(), "environment.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conf, err := running.Cloud.Seed.CloudConf(running.PlainURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("IDENTITY_ENDPOINT", running.PlainURL+"/msi/token")
	t.Setenv("IDENTITY_HEADER", "any")
	base := strings.Replace(string(conf), "{", `{"useManagedIdentityExtension": true,`, 1)
	without := strings.Replace(base, `"resourceManagerEndpoint": "`+running.PlainURL+`"`, `"resourceManagerEndpoint": ""`, 1)
	own := func(text, more string) string {
		return strings.Replace(strings.Replace(text, `"AzureCloud"`, `"azurestackcloud"`, 1), "{", "{"+more, 1)
	}
	const today = `"disableAzureStackCloud": true,`
	whole := `{"resourceManagerEndpoint": "` + running.PlainURL + `/", "tokenAudience": "` + running.PlainURL + `", "activeDirectoryEndpoint": "https://login.example.com/"}`
	for _, c := range []struct{ name, conf, file, want string }{
		{"file", own(without, today), whole, ""},
		{"old versions", own(without, ""), whole, "disableAzureStackCloud"},
		{"nothing says where", own(without, today), "", "resourceManagerEndpoint"},
		{"file without an audience", own(without, today), `{"resourceManagerEndpoint": "x"}`, "tokenAudience"},
		{"half a file", own(without, today), `{`, environmentFile},
		{"it says itself, under another name", own(base, today), "", "azurestackcloud"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.file != "" {
				write(c.file)
				t.Setenv(environmentFile, file)
			}
			s, err := openSession(t.Context(), readConfig(t, c.conf), providers.Env{})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q in it", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if lb, err := s.get(t.Context(), s.config.SecurityID(), networkVersion); err != nil || lb == nil {
				t.Errorf("a call: %v, %v", lb, err)
			}
		})
	}
}
