package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/sim/aws/ec2"
)

// makeReal brings the cloud to what the files say, as the controller would.
func makeReal(t *testing.T, nodes, config string, files ...string) {
	t.Helper()
	ctx := context.Background()
	world, err := offline.Gather(ctx, offline.Input{Files: files, NodeFiles: []string{nodes}})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := all.Find("aws")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	bound, _, err := entry.Open(ctx, file, providers.Env{Cluster: "kubernetes", Now: time.Now, Share: kit.Unlimited()})
	if err != nil {
		t.Fatal(err)
	}
	r := reconcile.New(bound, reconcile.Options{})
	var projected []nodeports.Node
	for _, n := range world.Nodes {
		projected = append(projected, nodeports.Project(n, nil))
	}
	r.SetNodes(projected)
	r.AllKnown()
	for _, item := range world.Items {
		d, err := r.Draft(ctx, reconcile.Job{Service: item.Service})
		if err != nil {
			t.Fatal(err)
		}
		res := r.Run(ctx, d, func(plan.Gate) time.Duration { return 0 })
		if res.Err != nil || !res.Clean {
			t.Fatalf("%s: clean %t, %v", item.Owner(), res.Clean, res.Err)
		}
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func serviceYAML(name, more string) string {
	return "apiVersion: v1\nkind: Service\nmetadata:\n  name: " + name + "\n  annotations:\n" +
		"    service.beta.kubernetes.io/aws-load-balancer-type: nlb\nspec:\n  type: LoadBalancer\n" + more + "  ports:\n  - port: 80\n"
}

// TestPlanAfterTheWorkIsDone: 0 is only ever said of a cloud that is as wanted.
func TestPlanAfterTheWorkIsDone(t *testing.T) {
	flags, nodes := startAWS(t, 2)
	file := writeFile(t, "web.yaml", serviceYAML("web", ""))
	args := append([]string{"plan", "-f", file, "--nodes", nodes}, flags...)
	if got := runBerth(t, "", args...); got.code != plan.ExitChanges {
		t.Fatalf("before: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	makeReal(t, nodes, flags[3], file)
	got := runBerth(t, "", args...)
	if got.code != plan.ExitNothing || got.out != "No changes. The cloud matches the Service.\n" {
		t.Errorf("after: exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// TestPlanOfSharedThings: what a Service no longer wants stays while another
// one, planned before or after it, does.
func TestPlanOfSharedThings(t *testing.T) {
	flags, nodes := startAWS(t, 2)
	both := writeFile(t, "both.yaml", serviceYAML("a", "")+"---\n"+serviceYAML("b", ""))
	makeReal(t, nodes, flags[3], both)
	narrow := serviceYAML("a", "  loadBalancerSourceRanges: [192.0.2.0/24]\n")
	for name, text := range map[string]string{"alone": narrow, "with-b": narrow + "---\n" + serviceYAML("b", "")} {
		got := runBerth(t, text, append([]string{"plan", "-f", "-", "--nodes", nodes}, flags...)...)
		if got.code != plan.ExitChanges {
			t.Errorf("%s: exit code %d", name, got.code)
		}
		golden.Check(t, "testdata/shared-"+name+".golden", got.out+"--- stderr\n"+got.err)
	}
}

// TestPlanForms: every form that has room for it lists the Services that are left alone.
func TestPlanForms(t *testing.T) {
	flags, nodes := startAWS(t, 1)
	text := serviceYAML("web", "") + "---\n" + serviceYAML("other", "  loadBalancerClass: example.com/x\n") +
		"---\napiVersion: v1\nkind: Service\nmetadata: {name: inner}\nspec: {ports: [{port: 80}]}\n"
	for _, form := range []string{"human", "brief", "json", "summary", "dot", "mermaid"} {
		got := runBerth(t, text, append([]string{"plan", "-f", "-", "--nodes", nodes, "-o", form}, flags...)...)
		if got.code != plan.ExitChanges {
			t.Errorf("%s: exit code %d %s", form, got.code, got.err)
		}
		golden.Check(t, "testdata/forms/"+form+".golden", got.out)
	}
}

// TestPlanTellsOpenNodes: that the nodes will let a whole security group in is said
// before it is done, and is an error where the policy forbids it.
func TestPlanTellsOpenNodes(t *testing.T) {
	flags, nodes := startAWS(t, 1)
	group := ec2.ID("sg", "seed-default")
	text := strings.Replace(serviceYAML("web", ""), "type: nlb", "security-groups: "+group, 1)
	args := append([]string{"plan", "-f", "-", "--nodes", nodes}, flags...)
	got := runBerth(t, text, args...)
	for _, word := range []string{"warning", "aws-load-balancer-security-groups", group, "on all ports", "forbidOpenNodes"} {
		if text := strings.Join(strings.Fields(got.out+got.err), " "); !strings.Contains(text, word) {
			t.Errorf("%q is not said:\n%s%s", word, got.out, got.err)
		}
	}
	if own := runBerth(t, serviceYAML("web", ""), args...); strings.Contains(strings.Join(strings.Fields(own.out), " "), "on all ports") {
		t.Errorf("a Network Load Balancer opens its own ports only:\n%s", own.out)
	}
	policy := writeFile(t, "policy.yaml", "rules: [{name: closed, namespaces: ['*'], forbidOpenNodes: true}]\n")
	refused := runBerth(t, text, append(args, "--policy-config", policy)...)
	if refused.code != plan.ExitError || !strings.Contains(strings.Join(strings.Fields(refused.out), " "), `rule "closed"`) {
		t.Errorf("with the policy: exit code %d\n%s%s", refused.code, refused.out, refused.err)
	}
}

func TestPlanWithoutNodesSaysSo(t *testing.T) {
	flags, _ := startAWS(t, 1)
	got := runBerth(t, serviceYAML("web", ""), append([]string{"plan", "-f", "-"}, flags...)...)
	if got.code != plan.ExitChanges || !strings.Contains(got.err, "note: there are no nodes (see --nodes)") {
		t.Errorf("exit code %d, %s", got.code, got.err)
	}
}

// TestErrorsHaveNoControlCharacters: a name in an error is no command to a terminal.
func TestErrorsHaveNoControlCharacters(t *testing.T) {
	got := runBerth(t, "", "check", "missing\x1b[31m.yaml")
	if got.code != plan.ExitError || strings.Contains(got.err, "\x1b") || !strings.Contains(got.err, `missing\x1b[31m.yaml`) {
		t.Errorf("exit code %d, %q", got.code, got.err)
	}
}

// TestErrors: what is wrong is said once, on stderr, with exit code 1, and
// usage only where it helps.
func TestErrors(t *testing.T) {
	flags, _ := startAWS(t, 1)
	with := func(args ...string) []string { return append(args, flags...) }
	for name, c := range map[string]struct {
		args  []string
		want  string
		usage bool
	}{
		"no such verb":      {[]string{"apply"}, `unknown command "apply"`, false},
		"no such flag":      {[]string{"plan", "--apply"}, "unknown flag: --apply", true},
		"no provider":       {[]string{"plan", "-f", "x.yaml"}, "[provider release] is required", false},
		"unknown provider":  {[]string{"plan", "-f", "x.yaml", "--provider", "cloudy"}, `provider "cloudy" is not known; legal: alibaba, aws, azure, baidu, gce, ibm, oci, openstack, tencent`, false},
		"unknown form":      {with("plan", "-f", "x.yaml", "-o", "xml"), `"xml" is not known; legal: human, brief, json, summary, dot, mermaid`, false},
		"no such file":      {with("plan", "-f", "testdata/none.yaml"), "testdata/none.yaml", false},
		"no cloud config":   {[]string{"plan", "-f", "testdata/real/any", "--provider", "aws", "--cloud-config", "testdata/none"}, "cloud configuration: ", false},
		"bad selector":      {with("plan", "-f", "testdata/real/any", "-l", "a=b=c"), `selector "a=b=c"`, false},
		"check no file":     {[]string{"check", "--provider", "aws"}, "no file is given", false},
		"annotations forms": {[]string{"annotations", "-o", "xml"}, "legal: table, json, markdown", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := runBerth(t, "", c.args...)
			if got.code != plan.ExitError || !strings.Contains(got.err, c.want) {
				t.Errorf("exit code %d, want %q in %q", got.code, c.want, got.err)
			}
			if shown := strings.Contains(got.out+got.err, "Usage:"); shown != c.usage {
				t.Errorf("usage shown: %t", shown)
			}
		})
	}
}

func TestCloudThatDoesNotAnswer(t *testing.T) {
	flags, _ := startAWS(t, 1)
	text, err := os.ReadFile(flags[3])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	flags[3] = writeFile(t, "cloud.conf", string(text))
	var out, errs strings.Builder
	code := runCommand(ctx, append([]string{"plan", "-f", "testdata/real"}, flags...), streams{in: strings.NewReader(""), out: &out, err: &errs})
	if code != plan.ExitError || out.String() != "" || strings.Contains(errs.String(), "Usage:") {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
}

// TestAnnotations: the rows have what scripts and other programs rely on.
func TestAnnotations(t *testing.T) {
	got := runBerth(t, "", "annotations", "--provider", "aws", "-o", "json")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(got.out), &rows); err != nil || len(rows) < 50 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		for _, name := range []string{"provider", "key", "on", "type", "values", "min", "max", "default", "kinds", "support", "doc", "source"} {
			if _, ok := row[name]; !ok {
				t.Errorf("%v: no %s", row["key"], name)
			}
		}
		if s := row["support"]; s != "works" && s != "accepted" && s != "later" {
			t.Errorf("%v: support %v", row["key"], s)
		}
	}
	for _, form := range []string{"table", "markdown"} {
		if got := runBerth(t, "", "annotations", "-o", form); got.code != 0 || !strings.Contains(got.out, "aws-load-balancer-type") {
			t.Errorf("%s: exit code %d\n%s", form, got.code, got.err)
		}
	}
}

func TestVersion(t *testing.T) {
	got := runBerth(t, "", "version")
	var names []string
	for line := range strings.Lines(got.out) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(value) == "" {
			t.Errorf("%s is empty", name)
		}
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"version", "commit", "go", "providers"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnnotationsWithWords: words select keys, without regard to case, and every detail
// of each key is shown; words that no key has are an error.
func TestAnnotationsWithWords(t *testing.T) {
	got := runBerth(t, "", "annotations", "--provider", "aws", "Idle", "timeout")
	for _, want := range []string{"service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout\n", "  legal        a whole number of seconds from 1 to 4000\n", "  kinds        clb\n"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	if got.code != 0 || strings.Contains(got.out, "aws-load-balancer-type") {
		t.Errorf("exit code %d, and shown is\n%s", got.code, got.out)
	}
	if got := runBerth(t, "", "annotations", "foo"); got.code != plan.ExitError || !strings.Contains(got.err, `no annotation has "foo"`) {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
}

// TestVersionFlag: the flag says what the verb says.
func TestVersionFlag(t *testing.T) {
	for _, flag := range []string{"--version", "-v"} {
		if got, want := runBerth(t, "", flag), runBerth(t, "", "version"); got != want {
			t.Errorf("%s: %v, want %v", flag, got, want)
		}
	}
}
