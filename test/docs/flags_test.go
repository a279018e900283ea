package docs

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/cloud-provider/options"

	"github.com/berth-lb/berth/service/metrics"
	"github.com/berth-lb/berth/status"
)

// visitPages visits every page that people write, and the texts that Helm prints.
func visitPages(t *testing.T, visit func(path, text string)) {
	t.Helper()
	seen := 0
	for _, dir := range []string{"docs", "charts", "examples", "integrations", "README.md", "CONTRIBUTING.md"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !slices.Contains([]string{".md", ".txt", ".yaml", ".lua"}, filepath.Ext(path)) {
				return err
			}
			body, err := os.ReadFile(path)
			seen++
			visit(strings.TrimPrefix(path, root+"/"), string(body))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 50 {
		t.Fatalf("found %d pages: the test does not see the repository", seen)
	}
}

// programFlags maps each program named in the pages to its flags. Flags of Go programs
// are the names in their calls of pflag, and the ones that libraries add.
func programFlags(t *testing.T) map[string]map[string]bool {
	t.Helper()
	berth, controller := map[string]bool{"help": true}, map[string]bool{"help": true}
	registers := regexp.MustCompile(`^(String|Bool|Int|Float64|Duration)[A-Za-z]*VarP?$`)
	visitProduction(t, func(path string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !registers.MatchString(sel.Sel.Name) {
				return true
			}
			lit, ok := call.Args[1].(*ast.BasicLit)
			if !ok {
				return true
			}
			name, _ := strconv.Unquote(lit.Value)
			if !strings.HasPrefix(path, "cmd/cloud-controller-manager") {
				berth[name] = true
			}
			if !strings.HasPrefix(path, "cmd/berth") {
				controller[name] = true
			}
			return true
		})
	})
	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	clientcmd.BindOverrideFlags(&clientcmd.ConfigOverrides{}, connection, clientcmd.RecommendedConfigOverrideFlags(""))
	connection.VisitAll(func(f *pflag.Flag) { berth[f.Name] = true })
	stock, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range stock.Flags(nil, nil, nil, nil, nil).FlagSets {
		set.VisitAll(func(f *pflag.Flag) { controller[f.Name] = true })
	}
	return map[string]map[string]bool{"berth": berth, "controller": controller}
}

// otherFlags are those of programs that are not ours, as far as pages name them.
func otherFlags() map[string][]string {
	return map[string][]string{
		"helm":        {"set", "set-file", "set-string", "values", "namespace", "create-namespace", "version", "repo"},
		"kubectl":     {"for", "timeout", "replicas", "type", "patch", "namespace", "all-namespaces", "field-selector", "subresource", "output"},
		"openstack":   {"access-rules"},
		"go test":     {"update"},
		"a simulator": {"throttle", "cloud", "listen", "out"},
		"AWS LBC":     {"backend-security-group", "default-ssl-policy", "default-tags", "default-target-type", "default-load-balancer-scheme", "enable-backend-security-group", "enable-manage-backend-security-group-rules", "feature-gates"},
		"API server":  {"event-ttl", "service-node-port-range"},
		"ingress-gce": {"cluster-uid", "enable-l4-ilb-dual-stack", "enable-l4-deny-firewall", "enable-l3-default-forwarding-rule-for-netlb-mixed-protocol",
			"run-l4-controller", "run-l4-netlb-controller", "enable-l4-neg", "enable-l4-netlb-neg"},
		"the stock program, from its logging": {"logging-format"},
		"test oracles":                        {"walk"},
	}
}

// flagIn matches a flag in code.
var flagIn = regexp.MustCompile("(?:^|[\\s`\"'(=])--([a-z][a-z0-9-]*)")

// codeOf lists what a page shows as code: whole lines between fences, and pieces between
// backticks.
func codeOf(page string) []string {
	var out []string
	fenced := false
	for line := range strings.Lines(page) {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
		case fenced:
			out = append(out, trimmed)
		default:
			for i, piece := range strings.Split(line, "`") {
				if i%2 == 1 {
					out = append(out, piece)
				}
			}
		}
	}
	return out
}

// wrongFlags lists the flags of a piece of code that its program does not have; a piece
// that names no program may have those of all.
func wrongFlags(code string, ours map[string]map[string]bool) []string {
	words := strings.Fields(code)
	var out []string
	for _, m := range flagIn.FindAllStringSubmatch(code, -1) {
		known := ours["berth"][m[1]] || ours["controller"][m[1]]
		for _, theirs := range otherFlags() {
			known = known || slices.Contains(theirs, m[1])
		}
		if len(words) > 0 && filepath.Base(words[0]) == "berth" {
			known = ours["berth"][m[1]]
		}
		if !known {
			out = append(out, m[1])
		}
	}
	return out
}

// TestPagesNameRealFlags: a page that shows a flag shows one that its program has.
func TestPagesNameRealFlags(t *testing.T) {
	ours := programFlags(t)
	if !ours["berth"]["summary"] || !ours["controller"]["dry-run"] || !ours["controller"]["leader-elect-resource-name"] || ours["berth"]["tracing-ratio"] {
		t.Fatal("the test does not see the flags of the programs")
	}
	if got := wrongFlags("berth plan --summary --tracing-ratio=1 --no-such", ours); !slices.Equal(got, []string{"tracing-ratio", "no-such"}) {
		t.Errorf("got %q: the test does not see flags that are not there", got)
	}
	shown := 0
	visitPages(t, func(path, text string) {
		if filepath.Ext(path) != ".md" || strings.HasPrefix(path, "docs/reference/") {
			return // generated pages are derived from the code
		}
		for _, code := range codeOf(text) {
			shown += strings.Count(code, "--")
			for _, flag := range wrongFlags(code, ours) {
				t.Errorf("%s: --%s in %q is a flag of no program", path, flag, code)
			}
		}
	})
	if shown < 50 {
		t.Errorf("pages show %d flags: the test does not see them", shown)
	}
}

// TestPagesNameRealMetrics: a metric in a page, an alert or the dashboard's text is one
// that the program has.
func TestPagesNameRealMetrics(t *testing.T) {
	real := map[string]bool{}
	for _, d := range metrics.Definitions() {
		real[d.Name] = true
	}
	named, name := 0, regexp.MustCompile(`\bberth_[a-z_]+[a-z]`)
	visitPages(t, func(path, text string) {
		for _, m := range name.FindAllString(text, -1) {
			named++
			base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m, "_bucket"), "_count"), "_sum")
			if !real[m] && !real[base] {
				t.Errorf("%s: %s is no metric", path, m)
			}
		}
	})
	if named < 20 {
		t.Errorf("pages name %d metrics: the test does not see them", named)
	}
}

// TestPagesNameRealConditions: so are conditions.
func TestPagesNameRealConditions(t *testing.T) {
	named, name := 0, regexp.MustCompile(regexp.QuoteMeta(status.Prefix)+`[A-Z][A-Za-z]+`)
	visitPages(t, func(path, text string) {
		for _, m := range name.FindAllString(text, -1) {
			named++
			if !slices.Contains(status.Types(), m) {
				t.Errorf("%s: %s is no condition", path, m)
			}
		}
	})
	if named < 5 {
		t.Errorf("pages name %d conditions: the test does not see them", named)
	}
}
