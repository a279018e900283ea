package status

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestListsAreClosed finds constants that were declared and not documented: each
// name in a reasons file must stand in the function that lists them as well.
func TestListsAreClosed(t *testing.T) {
	for file, kind := range map[string]string{"reasons.go": "Reason", "events.go": "EventReason"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		declared, listed := map[string]bool{}, map[string]bool{}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					v, ok := s.(*ast.ValueSpec)
					if !ok || d.Tok != token.CONST {
						continue
					}
					if id, ok := v.Type.(*ast.Ident); ok && id.Name == kind {
						declared[v.Names[0].Name] = true
					}
				}
			case *ast.FuncDecl:
				ast.Inspect(d, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						listed[id.Name] = true
					}
					return true
				})
			}
		}
		if len(declared) < 10 {
			t.Errorf("%s: want the constants of type %s, found %d", file, kind, len(declared))
		}
		for name := range declared {
			if !listed[name] {
				t.Errorf("%s: %s is not in the list", file, name)
			}
		}
	}
}
