package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxFields is the number of fields of a struct; an embedded struct is one field.
const maxFields = 15

// manyFields lists the structs that have more, with their numbers of fields. The list only
// shrinks: a smaller number must be entered.
func manyFields() map[string]int {
	return map[string]int{
		"providers/aws/wire/read.go read": 38,
	}
}

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
	allowed := manyFields()
	found := map[string]bool{}
	ast.Inspect(s.File, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		name, count := s.Path+" "+spec.Name.Name, structure.Fields.NumFields()
		found[name] = true
		switch limit := max(allowed[name], maxFields); {
		case count > limit:
			out = append(out, Finding(fmt.Sprintf("%s: %s has %d fields, more than %d", s.At(spec.Pos()), spec.Name.Name, count, limit)))
		case count < allowed[name]:
			out = append(out, Finding(fmt.Sprintf("%s: %s has %d fields: lower its entry in manyFields", s.At(spec.Pos()), spec.Name.Name, count)))
		}
		return true
	})
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if strings.HasPrefix(name, s.Path+" ") && !found[name] {
			out = append(out, Finding(name+" does not exist: remove it from manyFields"))
		}
	}
	return out
}
