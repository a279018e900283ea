package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/doctor"
	"github.com/berth-lb/berth/status"
)

// visitProduction visits every file of the product's own folders that is no test.
func visitProduction(t *testing.T, visit func(path string, f *ast.File)) {
	t.Helper()
	for _, dir := range []string{"annotations", "cmd", "providers", "service", "stack", "status"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				visit(strings.TrimPrefix(path, root+"/"), f)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// usedNames counts the names of a package that production code outside of the files
// that declare and list them uses.
func usedNames(t *testing.T, pkg string, lists ...string) map[string]bool {
	t.Helper()
	out, inside := map[string]bool{}, map[string][]string{}
	visitProduction(t, func(path string, f *ast.File) {
		if slices.Contains(lists, path) {
			return
		}
		for _, d := range f.Decls {
			fn, isFunc := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if id, ok := n.X.(*ast.Ident); ok && id.Name == pkg {
						out[n.Sel.Name] = true
					}
				case *ast.Ident:
					if isFunc && filepath.Dir(path) == pkg {
						inside[n.Name] = append(inside[n.Name], fn.Name.Name)
					}
				}
				return true
			})
		}
	})
	for name, by := range inside { // a constructor that is used uses its constant
		out[name] = out[name] || slices.ContainsFunc(by, func(fn string) bool { return out[fn] }) || pkg == "annotations"
	}
	return out
}

// stringConstants maps the names of the string constants in a file to their values.
func stringConstants(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		for _, s := range decl.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, name := range v.Names {
				if lit, ok := v.Values[i].(*ast.BasicLit); ok && name.IsExported() {
					out[name.Name] = strings.Trim(lit.Value, `"`)
				}
			}
		}
	}
	return out
}

// TestEverythingDocumentedIsSaid: a reason, an event or a code that no production code uses
// is never reported, and must not be in the reference.
func TestEverythingDocumentedIsSaid(t *testing.T) {
	for _, list := range []struct{ pkg, file string }{
		{"status", "status/events.go"}, {"status", "status/reasons.go"}, {"annotations", "annotations/code.go"},
	} {
		used := usedNames(t, list.pkg, "status/events.go", "status/reasons.go", "annotations/code_docs.go")
		names := stringConstants(t, list.file)
		if len(names) < 10 {
			t.Errorf("%s: found %d constants: the test does not see the file", list.file, len(names))
		}
		for name := range names {
			if !used[name] {
				t.Errorf("%s: %s is documented, and nothing says it", list.file, name)
			}
		}
	}
}

// TestPagesNameRealReasons: a page that speaks of an event, a reason or a code speaks
// of one that there is.
func TestPagesNameRealReasons(t *testing.T) {
	known := map[string]bool{}
	for _, e := range status.EventReasons() {
		known[string(e.Reason)] = true
	}
	for _, r := range status.Reasons() {
		known[string(r.Reason)] = true
	}
	for _, c := range annotations.Codes() {
		known[string(c.Code)] = true
	}
	for _, c := range doctor.Checks() {
		known[c.Code] = true
	}
	code := regexp.MustCompile(`\bBRT[0-9]{3}\b`)
	spoken := regexp.MustCompile("`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`")
	about := regexp.MustCompile(`(?i)\b(event|reason|condition)s?\b`)
	reason := regexp.MustCompile("`((?:[A-Z][a-z]+)*(?:LoadBalancer|Annotation|Spec|ByPolicy|ForSafety|NodePort|MatchingNodes)[A-Za-z]*)`")
	told := regexp.MustCompile(`(?m)^\s*(?:Warning +|Normal +)?([A-Z][a-z]+(?:[A-Z][a-z]+)+): `) // as shown in an answer of kubectl
	seen := 0
	visitPages(t, func(path, body string) {
		if strings.Contains(path, "reference") {
			return // generated pages are derived from the code
		}
		for _, name := range code.FindAllString(body, -1) {
			if !known[name] {
				t.Errorf("%s: %s is no code", path, name)
			}
		}
		named := append(reason.FindAllStringSubmatch(body, -1), told.FindAllStringSubmatch(body, -1)...)
		for line := range strings.Lines(body) {
			if about.MatchString(line) {
				named = append(named, spoken.FindAllStringSubmatch(line, -1)...)
			}
		}
		for _, m := range named {
			seen++
			if !known[m[1]] && !slices.Contains(notOurs(), m[1]) && !strings.HasPrefix(m[1], "Test") {
				t.Errorf("%s: %s is neither an event nor a reason", path, m[1])
			}
		}
	})
	if seen < 25 {
		t.Errorf("pages name %d events and reasons: the test does not see them", seen)
	}
}

// notOurs are words of Kubernetes and of clouds that look like reasons.
func notOurs() []string {
	return []string{"LoadBalancer", "GetLoadBalancer", "EnsureLoadBalancer", "UpdateLoadBalancer", "EnsureLoadBalancerDeleted"}
}
