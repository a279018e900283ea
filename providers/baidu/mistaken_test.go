package baidu_test

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/baidu"
	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
)

// TestDeclared: each declaration says what the value names, and has a source.
func TestDeclared(t *testing.T) { cases.Described(t, model.Annotations()) }

// TestMisspelt: a misspelt wish for an internal load balancer opens no new one, and a live one is
// left as it is.
func TestMisspelt(t *testing.T) {
	entry, plain := providers.EntryOf(baidu.Cloud()), props.Service("plain", nil)
	props.Misspelt(t, freshSubject(), entry, plain, lb+"internal-vpcs", "true")
	props.Misspelt(t, freshSubject(), entry, plain, lb+"internal-vpc", "True")
}

// TestNamesRefused: a policy that allows no names refuses every key that names something.
func TestNamesRefused(t *testing.T) {
	props.NamesRefused(t, freshSubject(), baidu.Cloud().Annotations, props.Service("plain", nil))
}
