package docs

import (
	"go/ast"
	"go/token"
	"regexp"
	"testing"
)

// TestTextsNameWhoActs: messages of programs name the program, the user or the object that
// acts, not an unspecified person: a reader can look for a controller.
func TestTextsNameWhoActs(t *testing.T) {
	vague := regexp.MustCompile(`(?i)\b(somebody|someone|nobody|whoever|anybody)\b`)
	texts := 0
	visitProduction(t, func(path string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if texts++; vague.MatchString(lit.Value) {
					t.Errorf("%s: %.160s", path, lit.Value)
				}
			}
			return true
		})
	})
	if texts < 5000 {
		t.Errorf("%d texts: the test does not see the code", texts)
	}
}
