package main

import (
	"slices"
	"strings"
	"testing"
)

// TestCompleteSettings: a shell offers annotations and their values for --set, and annotations for
// --unset: of the cloud that is named, else of all.
func TestCompleteSettings(t *testing.T) {
	const internal = "service.beta.kubernetes.io/azure-load-balancer-internal"
	for typed, want := range map[string][]string{
		"--provider azure --set " + internal + "=":                           {internal + "=false", internal + "=true"},
		"--provider azure --set service.beta.kubernetes.io/azure-load-balan": {internal + "=\t"},
		"--provider azure --unset service.beta":                              {internal},
		"--set " + internal + "=":                                            {internal + "=true"},
		"--unset load":                                                       {internal, "loadbalancer.openstack.org/flavor-id"},
	} {
		got := strings.Split(runBerth(t, "", append([]string{"__complete", "plan"}, strings.Fields(typed)...)...).out, "\n")
		for _, line := range want {
			if !slices.ContainsFunc(got, func(s string) bool { return s == line || strings.HasSuffix(line, "\t") && strings.HasPrefix(s, line) }) {
				t.Errorf("%s: no %q among %d lines, such as %q", typed, line, len(got), got[:min(3, len(got))])
			}
		}
		if azure := strings.Contains(typed, "azure --"); azure && slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "aws-") }) {
			t.Errorf("%s: offers annotations of AWS", typed)
		}
	}
}
