package wire

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/simtest"
)

func openOn(t *testing.T, running *simtest.Running, text string) (model.Config, error) {
	t.Helper()
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(running.URL, "http://"))
	text = "[global]\napi-endpoint = " + running.URL + "/compute/v1/\n" + strings.ReplaceAll(text, "URL", running.URL)
	config, _, err := model.ReadConfig(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	_, completed, err := Open(t.Context(), config, providers.Env{Now: time.Now})
	return completed, err
}

// acceptNumbers makes projects accessible by number as well, as the cloud does.
func acceptNumbers(t *testing.T, running *simtest.Running) *simtest.Running {
	t.Helper()
	names := strings.NewReplacer("/projects/123456789012", "/projects/berth-demo", "/projects/210987654321", "/projects/berth-host")
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = names.Replace(r.URL.Path)
		running.Cloud.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return &simtest.Running{URL: front.URL, Cloud: running.Cloud}
}

// TestOpenFindsWhereItIs: values that the configuration leaves open are read from the
// metadata server and from the network, and numbers of projects become names.
func TestOpenFindsWhereItIs(t *testing.T) {
	const network, subnet = "projects/berth-demo/global/networks/default", "projects/berth-demo/regions/us-central1/subnetworks/default"
	for name, text := range map[string]string{
		"nothing is said":      "",
		"a number and a zone":  "project-id = 123456789012\nlocal-zone = us-central1-a\n",
		"names":                "project-id = berth-demo\nnetwork-name = default\nsubnetwork-name = default\n",
		"URLs of another host": "network-name = https://www.googleapis.com/compute/v1/" + network + "\nsubnetwork-name = URL/compute/v1/" + subnet + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := openOn(t, acceptNumbers(t, simtest.Start(t, simgce.Options{})), text)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"berth-demo", "berth-demo", network, subnet, "us-central1", "us-central1-a"}
			if d := cmp.Diff(want, []string{got.Project, got.NetworkProject, got.Network, got.Subnet, got.Region, got.Zone}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestOpenInSharedVPC: network, subnet and firewalls are the host project's.
func TestOpenInSharedVPC(t *testing.T) {
	running := acceptNumbers(t, simtest.Start(t, simgce.Options{NetworkProject: "berth-host"}))
	got, err := openOn(t, running, "network-project-id = 210987654321\nnetwork-name = default\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"berth-demo", "berth-host", "projects/berth-host/global/networks/default", "projects/berth-host/regions/us-central1/subnetworks/default"}
	if d := cmp.Diff(want, []string{got.Project, got.NetworkProject, got.Network, got.Subnet}); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestCredentials: a cloud that looks at tokens accepts those of all three sources.
func TestCredentials(t *testing.T) {
	for name, text := range map[string]string{
		"metadata server":     "",
		"default credentials": "token-url = nil\n",
		"token server":        "token-url = URL/token\ntoken-body = \"{}\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			running := simtest.StartLoopback(t, simgce.Options{RequireToken: true})
			dir := t.TempDir()
			if err := running.Cloud.WriteFiles(dir, running.URL); err != nil {
				t.Fatal(err)
			}
			t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(dir, "service-account.json"))
			// The network has to be asked about, which takes a token.
			if _, err := openOn(t, running, text); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTokenServerSaysNo: without a token nothing is opened, and the error says why.
func TestTokenServerSaysNo(t *testing.T) {
	running := simtest.StartLoopback(t, simgce.Options{RequireToken: true})
	if _, err := running.Cloud.Faults.Add(sim.Fault{Service: "oauth2", Kind: sim.FaultError, Status: 403}); err != nil {
		t.Fatal(err)
	}
	_, err := openOn(t, running, "token-url = URL/token\n")
	if err == nil || !strings.Contains(err.Error(), "token-url") {
		t.Errorf("got %v", err)
	}
}

// TestUniverse: credentials of another universe are for its endpoint and sign their tokens
// themselves; the configuration prevails, and an api-endpoint over both.
func TestUniverse(t *testing.T) {
	running := simtest.StartLoopback(t, simgce.Options{})
	dir := t.TempDir()
	if err := running.Cloud.WriteFiles(dir, running.URL); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "service-account.json")
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := strings.Replace(string(key), "\"googleapis.com\"", "\"apis.example\"", 1)
	if err := os.WriteFile(file, []byte(elsewhere), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Metadata-Flavor", "Google")
		_, _ = io.WriteString(w, "metadata.example\n")
	}))
	t.Cleanup(server.Close)
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(server.URL, "http://"))
	for text, want := range map[string]string{
		"token-url = nil\n": "compute.apis.example",
		"token-url = nil\n[berth]\nuniverse-domain = said.example\n": "compute.said.example",
		"": "compute.metadata.example",
		"[berth]\nuniverse-domain = said.example\n":                         "compute.said.example",
		"api-endpoint = https://own.example/compute/v1/\ntoken-url = nil\n": "own.example",
	} {
		config, problems, err := model.ReadConfig(strings.NewReader("[global]\nproject-id = p\nlocal-zone = us-central1-a\nnetwork-name = n\n" + text))
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		found, err := credentialsOf(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "nil") {
			if token, err := found.tokens.Token(); err != nil || strings.Count(token.AccessToken, ".") != 2 {
				t.Errorf("%q: no self-signed token: %v", text, err)
			}
		}
		config.Universe = found.universe
		hosts := &refusing{}
		if _, _, err := OpenOver(t.Context(), config, providers.Env{Now: time.Now}, hosts); err == nil {
			t.Errorf("%q: opened without an answer", text)
		}
		if hosts.host != want {
			t.Errorf("%q: called %q, want %q", text, hosts.host, want)
		}
	}
}

// refusing records the host of a call and refuses it.
type refusing struct{ host string }

func (a *refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	a.host = r.URL.Host
	return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}
