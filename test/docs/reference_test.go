package docs

import (
	"os"
	"strings"
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/doctor"
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

func TestDoctorPage(t *testing.T) {
	golden.Check(t, root+"/docs/reference/doctor.md", doctor.Markdown())
}

func TestKindsPage(t *testing.T) {
	golden.Check(t, root+"/docs/reference/kinds.md", providers.CapabilitiesMarkdown(all.List()))
}

// TestFrontPage holds the table of clouds on the front page against the declarations.
func TestFrontPage(t *testing.T) {
	const begin, end = "<!-- begin of the generated table -->\n", "<!-- end of the generated table -->\n"
	file := root + "/docs/README.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", file)
	}
	golden.Check(t, file, before+begin+"\n"+providers.CapabilitiesSummary(all.List())+"\n"+end+after)
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
