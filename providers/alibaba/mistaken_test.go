package alibaba_test

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
)

// TestDeclared: each declaration says what the value names, and has a source.
func TestDeclared(t *testing.T) { cases.Described(t, model.Annotations()) }

// TestMisspelt: a misspelt wish for an intranet load balancer, or a limit of the clients that has no
// effect, opens no new one, and a live one is left as it is.
func TestMisspelt(t *testing.T) {
	cloud, plain := providers.EntryOf(alibaba.Cloud()), props.Service("plain", nil)
	props.Misspelt(t, freshSubject(), cloud, plain, prefix+"addrss-type", "intranet")
	props.Misspelt(t, freshSubject(), cloud, plain, prefix+"address-type", "Intranet")
	props.Misspelt(t, freshSubject(), cloud, plain, prefix+"security-group-ids", "sg-bp1abc") // of another kind
	props.Misspelt(t, freshSubject(), cloud, plain, prefix+"acl-ids", "acl-bp1ut10zzvh8jy1pxxxx")
}

// TestNamesRefused: a policy that allows no names refuses every key that names something.
func TestNamesRefused(t *testing.T) {
	props.NamesRefused(t, freshSubject(), alibaba.Cloud().Annotations, props.Service("plain", nil))
}

// TestNodeChoice: a label that no node has takes no servers away.
func TestNodeChoice(t *testing.T) {
	props.NodeChoice(t, freshSubject(), props.Service("plain", nil), prefix+"backend-label", "role=nowhere", "edge")
}
