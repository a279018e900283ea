package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/sim"
)

// vault is a world whose credentials are known, so that the output of all programs can be
// searched for them.
type vault struct {
	*world
	marks map[string]string // secrets by where they are
	said  map[string]string // output, by its origin
}

const (
	markedKey      = "MARKED-aws-secret-access-key-0f7a"
	markedSession  = "MARKED-aws-session-token-51c2"
	markedClient   = "MARKED-azure-client-secret-77e0"
	markedPassword = "MARKED-openstack-password-93d4"
	markedObject   = "MARKED-secret-of-kubernetes-2b6e"
	markedMount    = "MARKED-mounted-by-a-pod-4e81"
	markedUnused   = "MARKED-credential-in-a-secret-8d13"
	// markedPassphrase is beside a key that needs none.
	markedPassphrase = "MARKED-oci-passphrase-6a9c"
	// applicationSecret is that of the application credential of the simulated OpenStack.
	applicationSecret = "application-secret"
)

// TestSecretsStaySecret plants unmistakable secrets in configurations, environment and
// Secrets of every cloud. It serves Services with them, with and without faults, and with
// secrets that are refused: none of them appears in a log, event, condition, plan, trace,
// metric or debug page.
func TestSecretsStaySecret(t *testing.T) {
	for cloud, plant := range map[string]func(*vault){"aws": plantAWS, "azure": plantAzure, "gce": plantGCE, "openstack": plantOpenStack, "oci": plantOCI} {
		t.Run(cloud, func(t *testing.T) {
			v := &vault{world: startOn(t, &plane, cloud, 2), marks: map[string]string{}, said: map[string]string{}}
			plant(v)
			v.plantObject()
			v.serve()
			v.refuse()
			v.misread()
			v.search()
		})
	}
}

// edit changes the cloud configuration.
func (v *vault) edit(change func(string) string) {
	v.t.Helper()
	v.must(v.Sim.Configure(change))
}

func plantAWS(v *vault) {
	v.marks["AWS_SECRET_ACCESS_KEY"], v.marks["AWS_SESSION_TOKEN"] = markedKey, markedSession
	v.Env = []string{"AWS_ACCESS_KEY_ID=AKIDMARKED", "AWS_SECRET_ACCESS_KEY=" + markedKey, "AWS_SESSION_TOKEN=" + markedSession}
}

// plantAzure authenticates by the secret of an application, at an endpoint whose certificate
// the program is configured to trust.
func plantAzure(v *vault) {
	v.marks["aadClientCertPassword"], v.marks["IDENTITY_HEADER"] = markedClient, "MARKED-identity-header-4b1d"
	v.Env = []string{"SSL_CERT_FILE=" + filepath.Join(v.Sim.Dir, "ca.crt"), "IDENTITY_HEADER=" + v.marks["IDENTITY_HEADER"]}
	v.edit(func(conf string) string {
		conf = strings.Replace(conf, `"useManagedIdentityExtension": true,`, `"aadClientCertPassword": "`+markedClient+`",`, 1)
		v.marks["aadClientSecret"] = textBetween(conf, `"aadClientSecret": "`, `"`)
		return conf
	})
}

// plantGCE logs in by the key of a service account.
func plantGCE(v *vault) {
	path := filepath.Join(v.Sim.Dir, "service-account.json")
	text, err := os.ReadFile(path)
	v.must(err)
	var key struct {
		Private string `json:"private_key"`
	}
	v.must(json.Unmarshal(text, &key))
	v.markKey("private_key", key.Private)
	v.Env = []string{"GOOGLE_APPLICATION_CREDENTIALS=" + path}
	v.edit(func(conf string) string {
		return regexp.MustCompile(`(?m)^token-(url|body) = .*$`).ReplaceAllStringFunc(conf, func(line string) string {
			return map[bool]string{true: "token-url = nil"}[strings.HasPrefix(line, "token-url")]
		})
	})
}

// plantOpenStack authenticates by an application credential; the passwords are configured as
// well.
func plantOpenStack(v *vault) {
	v.marks["application-credential-secret"], v.marks["trustee-password"] = applicationSecret, markedPassword
	v.edit(func(conf string) string {
		conf = regexp.MustCompile(`(?m)^(username|password|tenant-name|domain-name) = .*\n`).ReplaceAllString(conf, "")
		return strings.Replace(conf, "[Global]\n", "[Global]\napplication-credential-id = 0f1e2d3c4b5a69788796a5b4c3d2e1f0\napplication-credential-secret = "+
			applicationSecret+"\ntrustee-password = "+markedPassword+"\n", 1)
	})
}

// plantOCI logs in by an API key in the configuration, beside a passphrase.
func plantOCI(v *vault) {
	v.marks["passphrase"] = markedPassphrase
	v.edit(func(conf string) string {
		v.markKey("key", "-----BEGIN"+textBetween(conf, "-----BEGIN", "-----END"))
		return regexp.MustCompile(`(?m)^( +)key: `).ReplaceAllString(conf, "${1}passphrase: "+markedPassphrase+"\n${0}")
	})
}

// markKey looks for every line of a private key.
func (v *vault) markKey(where, pem string) {
	v.t.Helper()
	found := 0
	for n, line := range strings.Split(pem, "\n") {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") && len(line) > 40 {
			v.marks[fmt.Sprint(where, ", line ", n)] = line
			found++
		}
	}
	if found < 10 {
		v.t.Fatalf("%s: a private key of %d lines", where, found)
	}
}

// textBetween returns the text between a beginning and the next end.
func textBetween(text, beginning, end string) string {
	_, rest, _ := strings.Cut(text, beginning)
	out, _, _ := strings.Cut(rest, end)
	return out
}

// plantObject keeps a Secret where the Services are, and notes the program's own token.
// Beside the program is what the chart gives it credentials from: a Secret with the cloud
// configuration and the environment, of which the program is to say nothing either.
func (v *vault) plantObject() {
	v.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.ns, Name: "web"}, StringData: map[string]string{"password": markedObject}}
	_, err := v.Client.CoreV1().Secrets(v.ns).Create(v.t.Context(), secret, metav1.CreateOptions{})
	v.must(err)
	conf, err := os.ReadFile(filepath.Join(v.Sim.Dir, "cloud.conf"))
	v.must(err)
	chart := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.ns, Name: "berth-credentials"}, StringData: map[string]string{
		"cloud.conf": string(conf), "environment": strings.Join(v.Env, "\n"), "unused": markedUnused,
	}}
	_, err = v.Client.CoreV1().Secrets(v.ns).Create(v.t.Context(), chart, metav1.CreateOptions{})
	v.must(err)
	v.marks["Secret of the chart"] = markedUnused
	config, err := v.Cluster.RESTConfig("")
	v.must(err)
	v.marks["Secret"], v.marks["kubeconfig"] = markedObject, config.BearerToken
	for where, mark := range v.marks {
		if len(mark) < 10 {
			v.t.Fatalf("%s: %q is too short to be looked for", where, mark)
		}
	}
}

// serve serves Services while the cloud refuses and drops calls, and records the output of
// the programs.
func (v *vault) serve() {
	v.t.Helper()
	collector := startCollector(v.t)
	page, flags := securePortFlags(v.t)
	p := v.controller(append(flags, "-v=10", "--profiling", "--tracing-endpoint="+collector.addr, "--authorization-always-allow-paths=/*")...)
	v.create("fair")
	for _, f := range []sim.Fault{
		{WritesOnly: true, Kind: sim.FaultError, Status: 403, Code: "AccessDenied", Message: "not allowed", Count: 1},
		{WritesOnly: true, Kind: sim.FaultCutAfter, After: 1, Count: 1},
		{Kind: sim.FaultError, Status: 503, After: 2, Count: 1},
	} {
		v.must(v.Sim.Arm(v.t.Context(), f))
	}
	foul := v.service("foul", setAnnotation("unknown", "1"))
	v.must(v.Create(v.t.Context(), foul))
	v.eventually("a word about what went wrong", func() error {
		if len(v.warnings("foul")) == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	v.disarm()
	for _, path := range debugPages() {
		status, body := page.get(path)
		if status != 200 {
			v.t.Errorf("%s: %d", path, status)
		}
		v.said[path] = body
	}
	for _, args := range [][]string{{"plan", "-A"}, {"plan", "-A", "-o", "json"}, {"status", "-A"}, {"orphans"}} {
		text, _ := v.berth(args[0], args[1:]...) // whether there is something to do is not the question
		v.said["berth "+strings.Join(args, " ")] = text
	}
	v.objects()
	v.must(p.Stop(limit))
	v.said["log"] = p.Output()
	if n := strings.Count(v.said["log"], "\n"); n < 100 {
		v.t.Errorf("the log of the greatest verbosity has %d lines", n)
	}
	collector.mu.Lock()
	defer collector.mu.Unlock()
	if len(collector.spans) == 0 {
		v.t.Error("no trace was sent")
	}
	v.said["traces"] = fmt.Sprint(collector.spans)
}

// objects notes everything that people may read in the cluster.
func (v *vault) objects() {
	v.t.Helper()
	ctx, core := context.WithoutCancel(v.t.Context()), v.Client.CoreV1() // also when the test has ended
	services, err := core.Services(v.ns).List(ctx, metav1.ListOptions{})
	v.must(err)
	events, err := core.Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	v.must(err)
	maps, err := core.ConfigMaps("kube-system").List(ctx, metav1.ListOptions{})
	v.must(err)
	for what, list := range map[string]any{"Services": services, "events": events, "ConfigMaps": maps} {
		text, err := json.Marshal(list)
		v.must(err)
		v.said[what] = string(text)
	}
}

// refuse starts the program with credentials that the cloud refuses.
func (v *vault) refuse() {
	v.t.Helper()
	conf, err := os.ReadFile(filepath.Join(v.Sim.Dir, "cloud.conf"))
	v.must(err)
	wrong := map[string]string{"azure": v.marks["aadClientSecret"], "openstack": applicationSecret}[v.Cloud]
	if wrong == "" {
		return // no cloud refuses a signature in this case
	}
	v.marks["a secret that is refused"] = "MARKED-refused-c0de"
	path := filepath.Join(v.Dir, "refused.conf")
	v.must(os.WriteFile(path, []byte(strings.ReplaceAll(string(conf), wrong, "MARKED-refused-c0de")), 0o600))
	text, code := v.berth("plan", "-A", "--cloud-config", path)
	if code == 0 {
		v.t.Error("a wrong secret went through")
	}
	v.said["plan with a wrong secret"] = text
}

// misread gives the program configurations that it cannot read, with secrets in the
// very lines that are wrong.
func (v *vault) misread() {
	v.t.Helper()
	const mark = "MARKED-misread-beef"
	v.marks["a configuration that cannot be read"] = mark
	broken := []string{
		"[Global]\npassword = \"" + mark + "\n", "[Global]\npasswrd = " + mark + "\n", "[Global]\npassword " + mark + "\n", "password = " + mark + "\n",
		"[Global]\nuse-clouds = " + mark + "\n",
		`{"aadClientSecret": ` + mark + `}`, `{"aadClientSecret": ["` + mark + `"]}`, "aadClientSecret: [" + mark + "\n", `{"aadClientSecret": "` + mark + `", "vmType": 1`,
		"aadClientSecret: x: " + mark + "\n",
		"auth:\n  key: " + mark + "\n", "auth:\n  passphrase: [" + mark + "\n", "auth: {key: {" + mark + ": 1}}\n", "auth: " + mark + "\n",
		"auth:\n  region: us-ashburn-1\n  tenancy: t\n  user: u\n  fingerprint: f\n  key: |\n    -----BEGIN RSA PRIVATE KEY-----\n    " + mark + "\n    -----END RSA PRIVATE KEY-----\n",
	}
	for n, conf := range broken {
		path := filepath.Join(v.Dir, "broken.conf")
		v.must(os.WriteFile(path, []byte(conf), 0o600))
		text, _ := v.berth("plan", "-A", "--cloud-config", path)
		v.said[fmt.Sprintf("plan with broken configuration %d", n)] = text
	}
}

// search looks for every mark in everything that was said, and for tokens of any kind.
func (v *vault) search() {
	v.t.Helper()
	token := regexp.MustCompile(`(?i)(bearer [a-z0-9._~+/-]{16,}|x-(auth|subject)-token: ?[a-z0-9]{16,})`)
	for _, what := range slices.Sorted(maps.Keys(v.said)) {
		text := v.said[what]
		if text == "" {
			v.t.Errorf("%s is empty: nothing was looked at", what)
		}
		for where, mark := range v.marks {
			if at := strings.Index(text, mark); at >= 0 {
				v.t.Errorf("%s has the secret of %s: ...%s", what, where, text[max(0, at-80):at])
			}
		}
		if at := token.FindStringIndex(text); at != nil {
			v.t.Errorf("%s has a token: ...%s", what, text[max(0, at[0]-80):at[0]+12])
		}
	}
}

// keepsSecret searches the output and the writes of a release's Pods for the content of its
// mounted Secret.
func (r *release) keepsSecret() {
	w := r.w
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.Dir, "pod-*", "*", "*"))
	w.must(err)
	v := &vault{world: w, marks: map[string]string{}, said: map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		w.must(err)
		switch {
		case strings.Contains(string(text), markedMount):
			v.marks[file] = markedMount
		case strings.Contains(string(text), `"aadClientSecret": "`):
			v.marks[file] = textBetween(string(text), `"aadClientSecret": "`, `"`)
		}
	}
	if len(v.marks) < len(r.ports) {
		w.t.Fatalf("%d Pods, and a marked Secret in %d of %q", len(r.ports), len(v.marks), files)
	}
	v.objects()
	for p, port := range r.ports {
		v.said[fmt.Sprint("log of the Pod at port ", port)] = p.Output()
	}
	v.search()
}

// debugPages are all paths at which the program tells something of itself.
func debugPages() []string {
	return []string{
		"/metrics", "/metrics/slis", "/configz", "/healthz?verbose", "/readyz?verbose", "/debug/pprof/", "/debug/pprof/symbol",
		"/debug/pprof/goroutine?debug=2", "/debug/pprof/heap?debug=1", "/debug/pprof/allocs?debug=1",
	}
}
