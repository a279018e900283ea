package logkey

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folders are those whose log lines have our keys.
var folders = []string{"..", "../reconcile", "../health", "../metrics", "../tracing", "../../cmd/cloud-controller-manager"}

// keysAt is how many arguments of a logging function come before its keys.
var keysAt = map[string]int{"Info": 1, "Error": 2, "InfoS": 1, "ErrorS": 2, "WithValues": 0}

// unkeyed are functions of klog whose lines have no keys at all.
var unkeyed = map[string]bool{"Infof": true, "Warningf": true, "Errorf": true, "Infoln": true}

// TestKeys: every log call of the loop uses keys of the list, by their constants.
func TestKeys(t *testing.T) {
	calls := 0
	for _, dir := range folders {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", dir, err, len(files))
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found, problems := checkLogCalls(t, file, string(text))
			calls += found
			for _, p := range problems {
				t.Error(p)
			}
		}
	}
	if calls < 10 {
		t.Errorf("only %d log calls were seen", calls)
	}
}

// checkLogCalls finds the log calls of a file, and their mistakes.
func checkLogCalls(t *testing.T, name, text string) (calls int, problems []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, `"k8s.io/klog/v2"`) {
		return 0, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		function, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !isLogCall(function) {
			return true
		}
		at := set.Position(call.Pos())
		if unkeyed[function.Sel.Name] {
			problems = append(problems, fmt.Sprintf("%s: %s has no keys", at, function.Sel.Name))
			return true
		}
		calls++
		before := keysAt[function.Sel.Name]
		for i := before; i < len(call.Args); i += 2 {
			if key, ok := call.Args[i].(*ast.SelectorExpr); !ok || fmt.Sprint(key.X) != "logkey" {
				problems = append(problems, fmt.Sprintf("%s: argument %d is no key of the list", at, i+1))
			}
		}
		return true
	})
	return calls, problems
}

// isLogCall distinguishes calls of a logger from others of the same name: the loggers
// are klog itself, variables called log, and what klog.FromContext returns.
func isLogCall(f *ast.SelectorExpr) bool {
	_, keyed := keysAt[f.Sel.Name]
	if !keyed && !unkeyed[f.Sel.Name] {
		return false
	}
	switch x := f.X.(type) {
	case *ast.Ident:
		return x.Name == "klog" || x.Name == "log"
	case *ast.CallExpr: // log.V(1), klog.FromContext(ctx), klog.Background()
		inner, ok := x.Fun.(*ast.SelectorExpr)
		return ok && (inner.Sel.Name == "V" || inner.Sel.Name == "FromContext" || inner.Sel.Name == "Background")
	}
	return false
}

// TestJudge: the test above finds what it is for.
func TestJudge(t *testing.T) {
	for text, want := range map[string]int{
		`klog.FromContext(ctx).Info("x", logkey.Err, err)`:     0,
		`klog.FromContext(ctx).Info("x", "error", err)`:        1,
		`log.V(1).Info("x", logkey.Step, 1, "b", 2)`:           1,
		`log := klog.Background().WithValues("a", 1); _ = log`: 1,
		`klog.Errorf("x %v", err)`:                             1,
		`klog.ErrorS(err, "x", "a", 1)`:                        1,
		`fmt.Errorf("x %w", err)`:                              0,
	} {
		_, got := checkLogCalls(t, "x.go", "package x\n\nimport \"k8s.io/klog/v2\"\n\nfunc f() {\n"+text+"\n}\n")
		if len(got) != want {
			t.Errorf("%s: want %d problems, got %v", text, want, got)
		}
	}
}

// TestListed: no key is listed twice, and each has a text.
func TestListed(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range All() {
		if seen[k.Name] || k.Doc == "" {
			t.Errorf("%s: listed twice, or without a text", k.Name)
		}
		seen[k.Name] = true
	}
}
