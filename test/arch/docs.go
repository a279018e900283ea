package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// noHeader finds licence texts above the package clause.
func noHeader(s Source) []Finding {
	for _, group := range s.File.Comments {
		text := strings.ToLower(group.Text())
		if group.Pos() < s.File.Package && (strings.Contains(text, "copyright") || strings.Contains(text, "licensed under") || strings.Contains(text, "spdx-license")) {
			return []Finding{Finding(s.At(group.Pos()) + ": licence header")}
		}
	}
	return nil
}

// PackageDocs demands that every package is documented once: in doc.go, or for
// a program in main.go.
func PackageDocs(all []Source) []Finding {
	documented := map[string][]string{}
	for _, s := range all {
		if s.IsTest() {
			continue
		}
		if _, known := documented[s.Dir()]; !known {
			documented[s.Dir()] = nil
		}
		if s.File.Doc != nil {
			documented[s.Dir()] = append(documented[s.Dir()], s.Path)
			if f := wrongDoc(s); f != "" {
				documented[s.Dir()] = append(documented[s.Dir()], f)
			}
		}
	}
	var out []Finding
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		switch places := documented[dir]; {
		case len(places) == 0:
			out = append(out, Finding(dir+": no package documentation"))
		case len(places) > 1:
			out = append(out, Finding(dir+": package documentation: "+strings.Join(places, ", ")))
		}
	}
	return out
}

// wrongDoc says what is wrong with a package comment; "" if nothing is.
func wrongDoc(s Source) string {
	begin := "Package " + s.File.Name.Name + " "
	files := []string{"doc.go"}
	if s.IsMain() {
		begin, files = "Command ", []string{"main.go", "doc.go"}
	}
	switch {
	case !slices.Contains(files, s.Name()):
		return fmt.Sprintf("stands in %s instead of %s", s.Name(), files[0])
	case !strings.HasPrefix(s.File.Doc.Text(), begin):
		return fmt.Sprintf("does not begin with %q", begin)
	}
	return ""
}
