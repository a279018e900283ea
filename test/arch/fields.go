package arch

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

// maxFields is the number of fields of a struct; an embedded struct is one field.
const maxFields = 15

// mirrorsDocument reports whether the structs of a file have the fields of the cloud's objects or
// of a configuration file, or a file belongs to tests.
func mirrorsDocument(s Source) bool {
	name := path.Base(s.Path)
	return s.IsTest() || strings.HasPrefix(s.Path, "test/") || name == "kinds.go" || name == "documents.go" || strings.HasPrefix(name, "config")
}

// structSize counts the fields of the structs of a file.
func structSize(s Source) []Finding {
	if mirrorsDocument(s) {
		return nil
	}
	var out []Finding
	ast.Inspect(s.File, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		if count := structure.Fields.NumFields(); count > maxFields {
			out = append(out, Finding(fmt.Sprintf("%s: %s has %d fields, more than %d", s.At(spec.Pos()), spec.Name.Name, count, maxFields)))
		}
		return true
	})
	return out
}
