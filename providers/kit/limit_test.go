package kit_test

import (
	"regexp"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// TestLimitIn: the fields of a quota are found by several patterns, the first one that finds a
// field determines it, and an unknown text has no quota.
func TestLimitIn(t *testing.T) {
	limitOf := func(said kit.Refusal) fault.Limit {
		return kit.LimitIn(said, regexp.MustCompile(`more than (?P<most>[\d.]+) (?P<name>\w+)`), regexp.MustCompile(`(?P<name>\w+) quota`), regexp.MustCompile(`Usage: (?P<used>\d+)`))
	}
	for text, want := range map[string]fault.Limit{
		"more than 8.0 rules, Usage: 8": {Name: "rules", Most: "8", Used: "8"},
		"more than 8.5 rules":           {Name: "rules", Most: "8.5"},
		"the cores quota, Usage: 4":     {Name: "cores", Used: "4"},
		"too many":                      {},
	} {
		if got := limitOf(kit.Refusal{Text: text}); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
