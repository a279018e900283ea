package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
)

// repository is a git repository in a temporary folder, which is the working directory.
type repository struct{ t *testing.T }

func newRepository(t *testing.T) repository {
	t.Helper()
	t.Chdir(t.TempDir())
	r := repository{t}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r repository) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// write replaces the files of a folder.
func (r repository) write(folder string, files map[string]string) {
	r.t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		r.t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r repository) commit(files map[string]string) {
	r.t.Helper()
	r.write("deploy", files)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "manifests")
}

func writeManifest(name, annotations, spec string) string {
	return "apiVersion: v1\nkind: Service\nmetadata:\n  name: " + name + "\n  namespace: shop\n  annotations: {" + annotations + "}\nspec:\n  type: LoadBalancer\n" + spec
}

const (
	nlbType  = "service.beta.kubernetes.io/aws-load-balancer-type: nlb"
	isClosed = nlbType + ", service.beta.kubernetes.io/aws-load-balancer-internal: 'true'"
	onePort  = "  ports: [{name: http, port: 80}]\n"
)

func manifestVersions() (before, after map[string]string) {
	before = map[string]string{
		"web.yaml":         writeManifest("web", isClosed, onePort),
		"ports.yaml":       writeManifest("ports", nlbType, "  loadBalancerSourceRanges: [10.0.0.0/8, 192.0.2.0/24]\n  ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}]\n"),
		"old/gone.yaml":    writeManifest("gone", nlbType, onePort),
		"moved.yaml":       writeManifest("moved", nlbType, onePort),
		"same.yaml":        writeManifest("same", nlbType, onePort),
		"inner.yaml":       writeManifest("inner", nlbType, onePort),
		"broken.yaml":      writeManifest("broken", nlbType, onePort),
		"typo.yaml":        writeManifest("typo", nlbType, onePort),
		"values.txt":       "no manifest",
		"chart/Chart.yaml": "name: x\n",
	}
	after = map[string]string{
		"web.yaml":      writeManifest("web", nlbType, onePort),
		"ports.yaml":    writeManifest("ports", nlbType, "  loadBalancerSourceRanges: [10.0.0.0/8, 198.51.100.0/24]\n  ports: [{name: https, port: 443}, {name: http, port: 80, targetPort: 8080}]\n"),
		"new.yaml":      writeManifest("new", isClosed, onePort),
		"new/home.yaml": writeManifest("moved", nlbType, onePort),
		"same.yaml":     writeManifest("same", nlbType, "  internalTrafficPolicy: Local\n"+onePort),
		"inner.yaml":    strings.Replace(writeManifest("inner", nlbType, onePort), "LoadBalancer", "ClusterIP", 1),
		"broken.yaml":   writeManifest("broken", nlbType, onePort) + "  kind: [\n",
		"typo.yaml":     writeManifest("typo", nlbType+", service.beta.kubernetes.io/aws-load-balancer-healthcheck-intervall: '10'", onePort),
	}
	return before, after
}

// TestDiff compares the work tree with a revision, in every form. A Service that moved to
// another file has no difference, and a file that cannot be read removes nothing.
func TestDiff(t *testing.T) {
	testdata, err := filepath.Abs("testdata/diff")
	if err != nil {
		t.Fatal(err)
	}
	r := newRepository(t)
	before, after := manifestVersions()
	r.commit(before)
	if got := runBerth(t, "", "diff", "--base", "HEAD", "deploy"); got.code != plan.ExitNothing {
		t.Fatalf("nothing has changed, exit code %d\n%s%s", got.code, got.out, got.err)
	}
	r.write("deploy", after)
	for _, form := range []string{"human", "markdown", "json"} {
		got := runBerth(t, "", "diff", "--base", "HEAD", "-o", form, "deploy")
		if got.code != plan.ExitError {
			t.Errorf("%s: exit code %d\n%s", form, got.code, got.err)
		}
		golden.Check(t, filepath.Join(testdata, form+".golden"), got.out)
	}
}

// TestDiffBases: the base is a folder, a file beside rendered templates, or a revision; a path
// that only the revision has, one below the working directory, and a revision that does not exist.
func TestDiffBases(t *testing.T) {
	r := newRepository(t)
	before, _ := manifestVersions()
	delete(before, "broken.yaml")
	r.commit(before)
	r.write("old", before)
	changed := strings.Replace(before["web.yaml"], "port: 80", "port: 81", 1)
	r.write("deploy", map[string]string{"web.yaml": changed})
	for name, tc := range map[string]struct {
		in   string
		args []string
		code int
		want string
	}{
		"folder":          {"", []string{"--base", "old", "deploy"}, plan.ExitChanges, "6 deleted, 1 closes a port"},
		"file":            {"", []string{"--base", "HEAD", "deploy/web.yaml"}, plan.ExitChanges, "1 of 1 Services differ from HEAD: 1 closes a port"},
		"gone":            {"", []string{"--base", "HEAD", "deploy/same.yaml"}, plan.ExitChanges, "1 deleted"},
		"rendered":        {changed, []string{"--base", "old/web.yaml", "-"}, plan.ExitChanges, "opens 81/TCP"},
		"stdin, revision": {changed, []string{"--base", "HEAD", "-"}, plan.ExitError, "standard input has no revision"},
		"no revision":     {"", []string{"--base", "nowhere", "deploy"}, plan.ExitError, "fatal: Needed a single revision"},
		"an option":       {"", []string{"--base=--output=x", "deploy"}, plan.ExitError, "fatal: Needed a single revision"},
		"no file":         {"", []string{"--base", "old", "nowhere"}, plan.ExitError, "no such file"},
	} {
		got := runBerth(t, tc.in, append([]string{"diff"}, tc.args...)...)
		if got.code != tc.code || !strings.Contains(got.out+got.err, tc.want) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s%s", name, got.code, tc.code, tc.want, got.out, got.err)
		}
	}
}
