package site

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/service/doctor"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/status"
)

const root = "../.."

func readDocs(t *testing.T) Pages {
	t.Helper()
	docs, err := Read(root + "/docs")
	if err != nil || len(docs) < 50 {
		t.Fatalf("%d pages, %v", len(docs), err)
	}
	return docs
}

// TestHelpAddresses: each address that a SARIF report names is a page of the site.
func TestHelpAddresses(t *testing.T) {
	conf, err := os.ReadFile(root + "/docs/site/hugo.toml")
	if err != nil {
		t.Fatal(err)
	}
	base := regexp.MustCompile(`(?m)^baseURL = "(.+)"$`).FindStringSubmatch(string(conf))
	if base == nil {
		t.Fatal("the configuration has no address")
	}
	report, err := offline.Checked{}.Render("sarif", 80)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Rules []struct {
						ID      string `json:"id"`
						HelpURI string `json:"helpUri"`
					} `json:"rules"`
				} `json:"driver"`
			} `json:"tool"`
		} `json:"runs"`
	}
	if err := json.Unmarshal([]byte(report), &log); err != nil {
		t.Fatal(err)
	}
	pages, rules := Files(readDocs(t)), log.Runs[0].Tool.Driver.Rules
	for _, r := range rules {
		name, found := strings.CutPrefix(r.HelpURI, base[1])
		page := pages[strings.TrimSuffix(name, "/")+".md"]
		if !found || !strings.HasSuffix(name, "/") || !strings.Contains(page, r.ID+": ") {
			t.Errorf("%s: %s is no page of the site", r.ID, r.HelpURI)
		}
	}
	if len(rules) < 30 {
		t.Errorf("only %d rules", len(rules))
	}
}

// TestFiles: each check of berth doctor and each reason has a page, and their links lead to pages.
func TestFiles(t *testing.T) {
	pages := Files(readDocs(t))
	for _, c := range doctor.Checks() {
		if !strings.Contains(pages["problems/"+strings.ToLower(c.Code)+".md"], c.Helps) {
			t.Errorf("%s has no page", c.Code)
		}
	}
	for _, e := range status.EventReasons() {
		if !strings.Contains(pages["events/"+strings.ToLower(string(e.Reason))+".md"], e.Doc) {
			t.Errorf("the event %s has no page", e.Reason)
		}
	}
	for _, r := range status.Reasons() {
		if !strings.Contains(pages["events/"+strings.ToLower(string(r.Reason))+".md"], r.Doc) {
			t.Errorf("the reason %s has no page", r.Reason)
		}
	}
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for _, m := range link.FindAllStringSubmatch(pages[name], -1) {
			if _, err := os.Stat(path.Join(root, "docs", path.Dir(name), m[1])); err != nil && !strings.Contains(m[1], "://") {
				t.Errorf("%s: %s leads nowhere", name, m[1])
			}
		}
	}
	if page := pages["events/invalidannotation.md"]; !strings.Contains(page, "(../guides/troubleshooting.md)") {
		t.Errorf("the page does not name those that mention it:\n%s", page)
	}
}

func TestBroken(t *testing.T) {
	page := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	got, err := Broken(fstest.MapFS{
		"index.html":      page(`<a href="/berth/a/">a</a><a href=/berth/a/#there>b</a><a href="https://example.com/x">c</a><link href="/berth/site.css"><a href="/berth/none/">d</a>`),
		"a/index.html":    page(`<h2 id="there">x</h2><a href="#there">a</a><a href="#nowhere">b</a><img src="../picture.png"><a href="/other/">c</a>`),
		"site.css":        page(""),
		"picture.png":     page(""),
		"a/unrelated.txt": page(`<a href="nothing">`),
	}, "/berth/")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/index.html: #nowhere", "a/index.html: /other/", "index.html: /berth/none/"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMissing(t *testing.T) {
	docs := Pages{"README.md": "", "guides/a.md": "", "reference/schemas/README.md": "", "b.md": ""}
	built := fstest.MapFS{"index.html": {}, "guides/a/index.html": {}, "reference/schemas/index.html": {}}
	if diff := cmp.Diff([]string{"b.md: is not on the site"}, Missing(docs, built)); diff != "" {
		t.Error(diff)
	}
}
