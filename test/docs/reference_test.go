package docs

import (
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/policy"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/golden"
)

// TestAnnotationPages holds the page of every cloud against its declarations:
// the same bytes that `berth annotations --provider ... -o markdown` prints.
func TestAnnotationPages(t *testing.T) {
	for _, cloud := range all.List() {
		t.Run(cloud.Name, func(t *testing.T) {
			page, err := offline.Reference([]providers.Entry{cloud}, "markdown")
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, root+"/docs/reference/"+cloud.Name+".md", page)
		})
	}
}

func TestStatusPage(t *testing.T) {
	golden.Check(t, root+"/docs/reference/status.md", status.Reference())
}

func TestProblemsPage(t *testing.T) {
	golden.Check(t, root+"/docs/reference/problems.md", annotations.CodesMarkdown())
}

func TestKindsPage(t *testing.T) {
	golden.Check(t, root+"/docs/reference/kinds.md", providers.CapabilitiesMarkdown(all.List()))
}

// TestEveryKindIsDeclared: what a kind can do is data for each of them.
func TestEveryKindIsDeclared(t *testing.T) {
	for _, cloud := range all.List() {
		for _, kind := range cloud.Kinds {
			if _, known := providers.CapabilityOf(cloud.Capabilities, kind); !known {
				t.Errorf("%s: kind %s has no capability", cloud.Name, kind)
			}
		}
	}
}

func TestPolicyPage(t *testing.T) {
	golden.Check(t, root+"/docs/reference/policy.md", policy.Reference())
}
