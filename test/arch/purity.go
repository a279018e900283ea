package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// clockUses are the places outside of programs, tests and simulators that may
// ask the real clock, each with its reason.
func clockUses() map[string]string {
	return map[string]string{
		"service/reconcile/reader.go Sleep":       "the first read of a batch waits some milliseconds for company; nothing is tested by how long",
		"service/reconcile/reader.go NewTimer":    "a read that no urgent caller waits for is delayed longer; an urgent one ends the delay",
		"service/reconcile/reconciler.go Now":     "the default of an option that tests set",
		"providers/aws/wire/session.go Now":       "the default of an option that tests set",
		"providers/kit/bucket.go AfterFunc":       "the next token of a bucket is added with time; tests run it on a virtual clock",
		"providers/kit/wait.go NewTimer":          "the pause before a cloud is asked again about a change; tests run it on a virtual clock",
		"providers/kit/settle.go NewTimer":        "the pause before a cloud is asked again how busy things are; tests run it on a virtual clock",
		"providers/kit/settle.go Until":           "the pause is as long as is left of it",
		"providers/kit/settle.go Now":             "how long changes take is learnt by the clock of that pause",
		"providers/openstack/wire/session.go Now": "the default of an option that tests set",
		"providers/tencent/wire/session.go Now":   "the default of an option that tests set",
		"providers/alibaba/wire/session.go Now":   "the default of an option that tests set",
		"providers/baidu/wire/session.go Now":     "the default of an option that tests set",
		"providers/ibm/wire/session.go Now":       "the default of an option that tests set",
		"providers/oci/wire/session.go Now":       "the default of an option that tests set",
		"providers/azure/wire/session.go Now":     "the default of an option that tests set",
		"providers/azure/wire/call.go NewTimer":   "the pause before a call without an answer is repeated",
		"providers/gce/wire/call.go Sleep":        "the first of several rules made at the same time waits some milliseconds for the others to be read with",
		"providers/gce/wire/session.go Now":       "the default of an option that tests set",
		"providers/plugin/open.go Now":            "what a program gives the cloud; here the program is the stock one",
		"providers/plugin/tell.go Now":            "the time of a condition, which the stock loop does not pass in",
		"providers/plugin/drive.go NewTimer":      "the stock loop wants an answer from the call, so the call waits for the cloud",
		"service/offline/plan.go Now":             "the program hands the clock to the provider that it opens",
		"service/offline/orphans.go NewTimer":     "the cloud releases deleted resources slowly; an immediate read finds the same",
	}
}

// findClocks finds uses of the real time.
func findClocks(s Source) []Finding {
	if !s.IsProduct() || s.IsMain() {
		return nil
	}
	var out []Finding
	for _, name := range clockCalls(s) {
		if clockUses()[s.Path+" "+name] == "" {
			out = append(out, Finding(fmt.Sprintf("%s: uses time.%s", s.Path, name)))
		}
	}
	return out
}

// clockCalls lists the functions of package time by which a file asks the clock.
func clockCalls(s Source) []string {
	asking := []string{"Now", "Sleep", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	var out []string
	ast.Inspect(s.File, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if ok && isPackage(selector.X, "time") && slices.Contains(asking, selector.Sel.Name) {
			out = append(out, selector.Sel.Name)
		}
		return true
	})
	return out
}

func isPackage(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name && id.Obj == nil
}

// packageVariables finds variables of a package that other code could write to.
func packageVariables(s Source) []Finding {
	if s.IsTest() {
		return nil
	}
	var out []Finding
	for _, d := range s.File.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && !isReadOnly(s, group, v) {
				out = append(out, Finding(fmt.Sprintf("%s: package variable %s", s.At(v.Pos()), v.Names[0].Name)))
			}
		}
	}
	return out
}

// isReadOnly reports whether a variable is of a kind that is never written.
func isReadOnly(s Source, group *ast.GenDecl, v *ast.ValueSpec) bool {
	if v.Names[0].Name == "_" || isEmbedded(group.Doc) || isEmbedded(v.Doc) {
		return true // a check by the compiler; a file, filled in by it
	}
	if s.Path == "test/sim/virtual/network.go" && v.Names[0].Name == "wires" {
		return true // settings of the default transport, of which a program has one
	}
	if s.IsMain() && len(v.Values) == 0 && isPackage(v.Type, "string") {
		return true // a version, stamped by the linker
	}
	if strings.HasPrefix(path.Base(s.Path), "annotations") && strings.HasSuffix(v.Names[0].Name, "Key") {
		return true // a declared annotation, made by a helper of the declarations
	}
	return len(v.Values) > 0 && !slices.ContainsFunc(v.Values, func(x ast.Expr) bool { return !isConstant(x) })
}

func isEmbedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// isConstant reports whether a value cannot be changed after its creation.
func isConstant(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.UnaryExpr:
		return x.Op == token.AND && typeName(x.X) == "annotations.Key"
	case *ast.CallExpr:
		return slices.Contains(constantMakers(), typeName(x.Fun))
	}
	return false
}

// constantMakers are functions whose results are never written to.
func constantMakers() []string {
	return []string{
		"errors.New", "regexp.MustCompile", "reflect.TypeFor", "flag.Bool", "flag.String", "flag.Duration",
		"labels.Everything", "strings.NewReplacer", "netip.MustParsePrefix", "netip.MustParseAddr",
	}
}

// typeName writes a (generic) type or function as the source does, without
// arguments: annotations.Key for annotations.Key[string]{...}.
func typeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.CompositeLit:
		return typeName(x.Type)
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.IndexListExpr:
		return typeName(x.X)
	case *ast.SelectorExpr:
		return typeName(x.X) + "." + x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// registrationFiles lists the files whose whole purpose is an init function: the
// registry of k8s.io/cloud-provider is filled by blank imports, and a program that has
// only one line for us must not need a second.
func registrationFiles() []string {
	return []string{"providers/plugin/alibaba/register.go", "providers/plugin/aws/register.go", "providers/plugin/azure/register.go", "providers/plugin/baidu/register.go", "providers/plugin/gce/register.go", "providers/plugin/ibm/register.go", "providers/plugin/oci/register.go", "providers/plugin/openstack/register.go", "providers/plugin/tencent/register.go"}
}

// noInit finds init functions, which only a program may have, and what exists to
// be imported for one.
func noInit(s Source) []Finding {
	if slices.Contains(registrationFiles(), s.Path) {
		return nil
	}
	var out []Finding
	for _, d := range s.File.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" && (!s.IsMain() || s.IsTest()) {
			out = append(out, Finding(s.At(f.Pos())+": init function"))
		}
	}
	return out
}

// noMocks finds generated and hand-made mocks.
func noMocks(s Source) []Finding {
	var out []Finding
	for _, name := range s.Imports() {
		for _, banned := range []string{"github.com/golang/mock", "go.uber.org/mock", "github.com/stretchr/testify/mock", "github.com/vektra/mockery", "github.com/matryer/moq"} {
			if strings.HasPrefix(name, banned) {
				out = append(out, Finding(s.Path+": imports "+name))
			}
		}
	}
	ast.Inspect(s.File, func(n ast.Node) bool {
		if t, ok := n.(*ast.TypeSpec); ok && strings.HasPrefix(strings.ToLower(t.Name.Name), "mock") {
			out = append(out, Finding(s.At(t.Pos())+": type "+t.Name.Name))
		}
		return true
	})
	return out
}

// findGoroutines finds go statements in pure packages. The engine may have them: it
// runs steps side by side.
func findGoroutines(s Source) []Finding {
	r, ok := rowFor(s.Dir())
	if !ok || !r.pure || s.IsTest() || s.Dir() == "stack/engine" {
		return nil
	}
	var out []Finding
	ast.Inspect(s.File, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			out = append(out, Finding(s.At(g.Pos())+": starts a goroutine"))
		}
		return true
	})
	return out
}

// configuredDefaults finds values of annotations that cmp.Or replaces when they are empty.
func configuredDefaults(s Source) []Finding {
	if !s.IsProduct() || !strings.HasPrefix(s.Path, "providers/") {
		return nil
	}
	var out []Finding
	ast.Inspect(s.File, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if fun, ok := call.Fun.(*ast.SelectorExpr); !ok || fun.Sel.Name != "Or" || !isPackage(fun.X, "cmp") {
			return true
		}
		for _, arg := range call.Args {
			if key := keyRead(arg); key != "" {
				out = append(out, Finding(fmt.Sprintf("%s: cmp.Or of %s.Get", s.Path, key)))
			}
		}
		return true
	})
	return out
}

// keyRead returns the key whose value an expression reads with Get; empty: it reads none.
func keyRead(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	get, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || get.Sel.Name != "Get" {
		return ""
	}
	if key, ok := get.X.(*ast.Ident); ok && strings.HasSuffix(key.Name, "Key") {
		return key.Name
	}
	return ""
}
