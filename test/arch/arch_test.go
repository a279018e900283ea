package arch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

func readTree(t *testing.T) ([]Text, []Source) {
	t.Helper()
	texts, err := Walk(root)
	if err != nil {
		t.Fatal(err)
	}
	sources, err := Sources(texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 50 {
		t.Fatalf("found %d Go files: the tests do not see the repository", len(sources))
	}
	return texts, sources
}

func reportFindings(t *testing.T, reason string, findings []Finding) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
	if len(findings) > 0 {
		t.Log("why: " + reason)
	}
}

// TestTree runs every rule on every file of the repository.
func TestTree(t *testing.T) {
	_, sources := readTree(t)
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			var all []Finding
			for _, s := range sources {
				all = append(all, rule.Check(s)...)
			}
			reportFindings(t, rule.Reason, all)
		})
	}
	t.Run("package documentation", func(t *testing.T) {
		reportFindings(t, "a newcomer starts reading at the package comment: what it is, what it must not do, where to start", PackageDocs(sources))
	})
}

func TestMachineWords(t *testing.T) {
	texts, _ := readTree(t)
	var all []Finding
	for _, text := range texts {
		all = append(all, MachineWords(text)...)
	}
	reportFindings(t, "what is in the repository means the same on every machine", all)
}

func TestDependenciesAreExplained(t *testing.T) {
	var files [2]string
	for i, name := range []string{"go.mod", "docs/dependencies.md"} {
		body, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		files[i] = string(body)
	}
	reportFindings(t, "a requirement is foreign code in our program: docs/dependencies.md says what for", Undocumented(files[0], files[1]))
}

// TestRulesSee gives every rule something to find.
func TestRulesSee(t *testing.T) {
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			s, err := Parse(rule.Bad.Path, []byte(rule.Bad.Text))
			if err != nil {
				t.Fatal(err)
			}
			if got := rule.Check(s); len(got) != 1 {
				t.Errorf("found %q in a bad file, want one finding", got)
			}
		})
	}
}

func TestImports(t *testing.T) {
	cases := map[string]struct {
		path, name string
		want       int
	}{
		"a pure package and its neighbour":    {"stack/diff/x.go", Module + "/stack/ledger", 0},
		"a pure package and the loop":         {"stack/diff/x.go", Module + "/service", 1},
		"a pure package and an SDK":           {"nodeports/x.go", "github.com/aws/aws-sdk-go-v2/aws", 1},
		"a pure package and the API client":   {"status/x.go", "k8s.io/client-go/kubernetes", 1},
		"a pure package and a file":           {"annotations/x.go", "os", 1},
		"a pure package's test and a file":    {"annotations/x_test.go", "os", 0},
		"informers in the loop":               {"service/x.go", "k8s.io/client-go/informers", 0},
		"informers in a program":              {"cmd/berth/x.go", "k8s.io/client-go/tools/cache", 1},
		"a program and one cloud":             {"cmd/berth/x.go", Module + "/providers/aws", 1},
		"a program and the list of clouds":    {"cmd/berth/x.go", Module + "/providers/all", 0},
		"a cloud and the loop":                {"providers/aws/x.go", Module + "/service", 1},
		"a cloud and its SDK":                 {"providers/aws/cloud.go", "github.com/aws/aws-sdk-go-v2/service/ec2", 1},
		"what talks and its SDK":              {"providers/aws/wire/read.go", "github.com/aws/aws-sdk-go-v2/service/ec2", 0},
		"what is wanted and an SDK":           {"providers/aws/model/read.go", "github.com/aws/aws-sdk-go-v2/service/ec2/types", 1},
		"what is wanted and the network":      {"providers/aws/model/read.go", "net/http", 1},
		"what is wanted and what talks":       {"providers/aws/model/x.go", Module + "/providers/aws/wire", 1},
		"a test of what is wanted and a file": {"providers/aws/model/x_test.go", "os", 0},
		"a simulator and the product":         {"test/sim/aws/x.go", Module + "/providers/aws", 1},
		"a simulator and its neighbour":       {"test/sim/aws/elb/x.go", Module + "/test/sim/aws/query", 0},
		"a test of the whole and the product": {"test/e2e/x.go", Module + "/service", 0},
		"a folder without a row":              {"helpers/x.go", "fmt", 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Parse(c.path, []byte("package x\n\nimport _ \""+c.name+"\"\n"))
			if err != nil {
				t.Fatal(err)
			}
			if got := checkImports(s); len(got) != c.want {
				t.Errorf("got %q, want %d findings", got, c.want)
			}
		})
	}
}

func TestPackageVariables(t *testing.T) {
	cases := map[string]struct {
		text string
		want int
	}{
		"a map":              {"var seen = map[string]bool{}", 1},
		"a number":           {"var n int", 1},
		"an error":           {`var ErrGone = errors.New("gone")`, 0},
		"a pattern":          {"var word = regexp.MustCompile(`a`)", 0},
		"a declaration":      {`var key = &annotations.Key[string]{Name: "a"}`, 0},
		"another pointer":    {`var key = &settings{Name: "a"}`, 1},
		"a compiler's check": {"var _ error = (*problem)(nil)", 0},
		"an embedded file":   {"//go:embed go.mod\nvar goMod string", 0},
		"one bad of two":     {"var (\n\ta = errors.New(\"a\")\n\tb = []int{1}\n)", 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Parse("stack/x.go", []byte("package stack\n\n"+c.text+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			if got := packageVariables(s); len(got) != c.want {
				t.Errorf("got %q, want %d findings", got, c.want)
			}
		})
	}
}

func TestPackageDocs(t *testing.T) {
	cases := map[string]struct {
		files map[string]string
		want  int
	}{
		"in doc.go":       {map[string]string{"stack/doc.go": "// Package stack is it.\npackage stack\n", "stack/a.go": "package stack\n"}, 0},
		"none":            {map[string]string{"stack/a.go": "package stack\n"}, 1},
		"elsewhere":       {map[string]string{"stack/a.go": "// Package stack is it.\npackage stack\n"}, 1},
		"twice":           {map[string]string{"stack/doc.go": "// Package stack is it.\npackage stack\n", "stack/a.go": "// Package stack is it.\npackage stack\n"}, 1},
		"another subject": {map[string]string{"stack/doc.go": "// Everything begins here.\npackage stack\n"}, 1},
		"a program":       {map[string]string{"cmd/berth/main.go": "// Command berth does it.\npackage main\n"}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var all []Source
			for path, text := range c.files {
				s, err := Parse(path, []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, s)
			}
			if got := PackageDocs(all); len(got) != c.want {
				t.Errorf("got %q, want %d findings", got, c.want)
			}
		})
	}
}

func TestWordsOfAMachine(t *testing.T) {
	cases := map[string]int{
		"see `/" + "root/go/pkg`":               1,
		"cd /" + "work/main":                    1,
		"GOPROXY=https://proxy.golang." + "org": 1,
		"docs/work/plan.md":                     0,
		"subject/root/leaf":                     0,
		"arn:aws:iam::1:role/work":              0,
	}
	for line, want := range cases {
		if got := MachineWords(Text{Path: "README.md", Body: []byte(line)}); len(got) != want {
			t.Errorf("%q: got %q, want %d findings", line, got, want)
		}
	}
}

func TestUndocumented(t *testing.T) {
	goMod := "module m\n\nrequire a.com/one v1.0.0\n\nrequire (\n\tb.com/two v1.0.0\n\tc.com/three v1.0.0 // indirect\n)\n"
	got := Undocumented(goMod, "| `a.com/one` | why |\n| `d.com/four` | why |\n")
	want := []Finding{"b.com/two: required and not explained", "d.com/four: explained and not required"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestExceptionsAreUsed finds exceptions that no longer apply.
func TestExceptionsAreUsed(t *testing.T) {
	_, sources := readTree(t)
	used := map[string]bool{}
	for _, s := range sources {
		for _, name := range clockCalls(s) {
			used[s.Path+" "+name] = true
		}
	}
	for place := range clockUses() {
		if !used[place] {
			t.Errorf("%s: is allowed and not there", place)
		}
	}
}
