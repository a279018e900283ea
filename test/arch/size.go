package arch

import (
	"fmt"
	"go/ast"
	"strings"
)

// House numbers.
const (
	maxFile     = 400
	maxTestFile = 800
	maxFunction = 60
)

func fileSize(s Source) []Finding {
	limit := maxFile
	if s.IsTest() {
		limit = maxTestFile
	}
	if s.Lines <= limit {
		return nil
	}
	return []Finding{Finding(fmt.Sprintf("%s: %d lines, more than %d", s.Path, s.Lines, limit))}
}

// functionSize counts the lines between a function's braces. Tests are counted
// without their tables: composite literals are data.
func functionSize(s Source) []Finding {
	var out []Finding
	for _, d := range s.File.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || hasExcuse(f.Doc) {
			continue
		}
		n := s.span(f.Body)
		if s.IsTest() {
			n -= s.data(f.Body)
		}
		if n > maxFunction {
			out = append(out, Finding(fmt.Sprintf("%s: %s has %d lines, more than %d", s.At(f.Pos()), f.Name.Name, n, maxFunction)))
		}
	}
	return out
}

// hasExcuse reports whether a comment right above gives a reason for the function's
// length.
func hasExcuse(doc *ast.CommentGroup) bool {
	if doc == nil || len(doc.List) == 0 {
		return false
	}
	reason, ok := strings.CutPrefix(doc.List[len(doc.List)-1].Text, "// long: ")
	return ok && strings.TrimSpace(reason) != ""
}

func (s Source) span(n ast.Node) int {
	return s.Set.Position(n.End()).Line - s.Set.Position(n.Pos()).Line - 1
}

// data counts the lines of the outermost composite literals.
func (s Source) data(body ast.Node) int {
	n := 0
	ast.Inspect(body, func(node ast.Node) bool {
		literal, ok := node.(*ast.CompositeLit)
		if ok {
			n += max(s.span(literal), 0)
		}
		return !ok
	})
	return n
}
