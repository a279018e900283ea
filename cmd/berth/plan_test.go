package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
)

const refusedNeighbour = "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: wrong\n  annotations:\n" +
	"    service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout: \"9999\"\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n"

// TestPlanBesideARefusedOne: a Service that was always refused uses no existing
// resource, so resources that its neighbour leaves are deleted, as by the controller;
// and the errors of one do not hide the plan of the other.
func TestPlanBesideARefusedOne(t *testing.T) {
	flags, nodes := startAWS(t, 2)
	file := writeFile(t, "web.yaml", serviceYAML("web", ""))
	makeReal(t, nodes, flags[3], file)
	classic := strings.Replace(serviceYAML("web", ""), "type: nlb", "type: classic", 1)
	args := append([]string{"plan", "-f", "-", "--nodes", nodes}, flags...)
	alone, beside := runBerth(t, classic, args...), runBerth(t, classic+refusedNeighbour, args...)
	if strings.Contains(beside.out, "ledger") || strings.Count(beside.out, "will be deleted") != strings.Count(alone.out, "will be deleted") {
		t.Errorf("beside a refused one other things go than alone:\n%s\n--- alone\n%s", beside.out, alone.out)
	}
	if strings.Contains(beside.out, "errors above") || !strings.Contains(beside.out, "Plan: ") || beside.code != plan.ExitError {
		t.Errorf("exit code %d, and no plan beside the error:\n%s", beside.code, beside.out)
	}
}

// TestPlanUnderPolicies: the plan is held as the controller with these flags holds it.
func TestPlanUnderPolicies(t *testing.T) {
	flags, nodes := startAWS(t, 2)
	makeReal(t, nodes, flags[3], writeFile(t, "web.yaml", serviceYAML("web", "")))
	classic := strings.Replace(serviceYAML("web", ""), "type: nlb", "type: classic", 1)
	for flag, want := range map[string]string{
		"--policy=no-delete":    "policy no-delete",
		"--policy=no-interrupt": "policy no-interrupt",
		"--dry-run":             "policy dry-run",
		"--policy=nothing":      "legal: no-delete, no-replace, no-interrupt",
		"--on-takeover=maybe":   "legal: converge, keep",
	} {
		got := runBerth(t, classic, append([]string{"plan", "-f", "-", "--nodes", nodes, flag}, flags...)...)
		if !strings.Contains(got.out+got.err, want) {
			t.Errorf("%s: want %q in\n%s%s", flag, want, got.out, got.err)
		}
	}
}

// TestPlanSummary: a line for each Service, the gravest first; and a part of them.
func TestPlanSummary(t *testing.T) {
	flags, nodes := startAWS(t, 2)
	makeReal(t, nodes, flags[3], writeFile(t, "two.yaml", serviceYAML("same", "")+"---\n"+serviceYAML("swapped", "")))
	text := serviceYAML("same", "") + "---\n" + strings.Replace(serviceYAML("swapped", ""), "type: nlb", "type: classic", 1) +
		"---\n" + serviceYAML("new", "") + refusedNeighbour
	args := append([]string{"plan", "-f", "-", "--nodes", nodes}, flags...)
	got := runBerth(t, text, append(args, "--summary")...)
	golden.Check(t, "testdata/forms/summary-many.golden", got.out)
	for only, want := range map[string][]string{"interrupting": {"swapped"}, "changes": {"swapped", "new"}, "errors": {"wrong"}} {
		part := runBerth(t, text, append(args, "--summary", "--only", only)...)
		for _, name := range []string{"same", "swapped", "new", "wrong"} {
			shown := strings.Contains(part.out, "default/"+name+" ")
			wanted := false
			for _, w := range want {
				wanted = wanted || w == name
			}
			if shown != wanted {
				t.Errorf("--only %s: %s is shown: %t\n%s", only, name, shown, part.out)
			}
		}
		if part.code != got.code {
			t.Errorf("--only %s: exit code %d, without it %d", only, part.code, got.code)
		}
	}
}

// TestPlanOfOne: a Service can be named as kubectl names it.
func TestPlanOfOne(t *testing.T) {
	flags, nodes := startAWS(t, 1)
	text := serviceYAML("a", "") + "---\n" + serviceYAML("b", "")
	got := runBerth(t, text, append([]string{"plan", "svc/b", "-f", "-", "--nodes", nodes}, flags...)...)
	if got.code != plan.ExitChanges || strings.Contains(got.out, "default/a") || !strings.Contains(got.out, "Service default/b") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	for _, arg := range []string{"svc/none", "pod/b", "b"} {
		got := runBerth(t, text, append([]string{"plan", arg, "-f", "-", "--nodes", nodes}, flags...)...)
		if got.code != plan.ExitError || got.err == "" {
			t.Errorf("%s: exit code %d", arg, got.code)
		}
	}
}

// TestPlanChanges: --set and --unset plan a live Service with other annotations, and change nothing
// else.
func TestPlanChanges(t *testing.T) {
	flags, nodes := startAWS(t, 2)
	file := writeFile(t, "web.yaml", serviceYAML("web", ""))
	makeReal(t, nodes, flags[3], file)
	args := append([]string{"plan", "-f", file, "--nodes", nodes, "--brief"}, flags...)
	const interval = "service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval"
	for _, tc := range []struct {
		flags []string
		code  int
		want  string
	}{
		{nil, plan.ExitNothing, ""},
		{[]string{"--set", interval + "=10"}, plan.ExitChanges, "target-group/tcp-80"},
		{[]string{"--set", interval + "=3"}, plan.ExitError, interval},
		{[]string{"--unset", "service.beta.kubernetes.io/aws-load-balancer-type"}, plan.ExitChanges, "network-load-balancer"},
		{[]string{"--unset", interval}, plan.ExitError, "has no such annotation"},
		{[]string{"--set", interval}, plan.ExitError, "want KEY=VALUE"},
	} {
		got := runBerth(t, "", append(slices.Clone(args), tc.flags...)...)
		if got.code != tc.code || !strings.Contains(got.out+got.err, tc.want) {
			t.Errorf("%v: exit code %d, want %d and %q in\n%s%s", tc.flags, got.code, tc.code, tc.want, got.out, got.err)
		}
	}
}
