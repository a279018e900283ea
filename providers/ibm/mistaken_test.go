package ibm_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/ibm"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
)

// TestDeclared: testdata/keys.txt has every key that the official controllers read. They ignore the
// source ranges, which are refused. Each declaration says what the value names, and has a source.
func TestDeclared(t *testing.T) {
	keys := slices.DeleteFunc(cases.KeysOf(model.Annotations()), func(key string) bool { return key == corev1.AnnotationLoadBalancerSourceRangesKey })
	cases.Declared(t, keys)
	cases.Described(t, model.Annotations())
}

// TestMisspelt: a misspelt wish for a private load balancer opens no new one, and a live one is
// left as it is.
func TestMisspelt(t *testing.T) {
	cloud, plain := providers.EntryOf(ibm.Cloud()), props.Service("plain", nil)
	props.Misspelt(t, freshSubject(), cloud, plain, prefix+"ip-typ", "private")
	props.Misspelt(t, freshSubject(), cloud, plain, prefix+"ip-type", "Private")
}

// TestNamesRefused: a policy that allows no names refuses every key that names something.
func TestNamesRefused(t *testing.T) {
	props.NamesRefused(t, freshSubject(), ibm.Cloud().Annotations, props.Service("plain", nil))
}

// TestNodeChoice: a choice that is malformed, or that matches no node, takes no members away.
func TestNodeChoice(t *testing.T) {
	for _, c := range []props.Case{props.Service("alb", withKeys("zone", "eu-de-2")), props.Service("nlb", withKeys("enable-features", "nlb", "zone", "eu-de-2"))} {
		props.NodeChoice(t, freshSubject(), c, prefix+"vpc-node-selector", "role=nowhere", "a=b=c")
		props.NodeChoice(t, freshSubject(), c, prefix+"zone", "eu-de-9")
	}
}
