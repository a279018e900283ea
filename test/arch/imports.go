package arch

import (
	"fmt"
	"slices"
	"strings"
)

// noIO are packages of the standard library by which a program reaches out of
// itself, or which make results depend on when and where it runs.
func noIO() []string {
	return []string{"context", "net/http", "net/http/httptrace", "os", "os/exec", "net", "io/fs", "log", "log/slog", "math/rand", "math/rand/v2", "crypto/rand", "syscall"}
}

// informerPackages returns the packages that hold a copy of the API server's objects.
func informerPackages() []string {
	return []string{"k8s.io/client-go/informers", "k8s.io/client-go/listers", "k8s.io/client-go/tools/cache", "k8s.io/client-go/util/workqueue"}
}

// checkImports checks a file against the table. Tests may import what they like of
// others and of the test helpers, since nothing is built on them.
func checkImports(s Source) []Finding {
	r, ok := rowFor(s.Dir())
	if !ok {
		return []Finding{Finding(s.Path + ": the folder has no row in the table of imports; add one, with a reason")}
	}
	var out []Finding
	for _, name := range s.Imports() {
		if why := r.forbids(s, name); why != "" {
			out = append(out, Finding(fmt.Sprintf("%s: imports %s: %s (%s)", s.Path, name, why, r.reason)))
		}
	}
	return out
}

func (r row) forbids(s Source, name string) string {
	switch {
	case s.IsTest():
		return ""
	case isStandard(name):
		if r.pure && slices.Contains(noIO(), name) && !slices.Contains(r.std, name) {
			return "the package is pure"
		}
	case isLocal(name):
		if !slices.ContainsFunc(r.local, func(p string) bool { return matchesFolder(p, name) }) {
			return "not in its row"
		}
	case s.IsProduct() && !mayWatch(s.Dir()) && slices.ContainsFunc(informerPackages(), func(p string) bool { return strings.HasPrefix(name, p) }):
		return "informers and queues belong to service/"
	case !slices.ContainsFunc(r.others, func(p string) bool { return p == anything || strings.HasPrefix(name, p) }):
		return "not in its row"
	}
	return ""
}

// mayWatch reports whether a folder may import informers and queues.
func mayWatch(dir string) bool {
	return slices.Contains([]string{"service", "service/inputs", "providers/plugin"}, dir)
}

// rowFor finds the row with the longest matching folder.
func rowFor(dir string) (row, bool) {
	var best row
	found := false
	for _, r := range importTable() {
		if matchesFolder(r.dir, dir) && (!found || len(r.dir) > len(best.dir)) {
			best, found = r, true
		}
	}
	return best, found
}

// matchesFolder matches a folder against a pattern: itself, or all below with /*.
func matchesFolder(pattern, dir string) bool {
	if pattern == anything {
		return true
	}
	if below, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(dir, below+"/")
	}
	return pattern == dir
}

// isStandard tells packages of the standard library by their first element, in
// which a module's path has a dot.
func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".") && !localRoot(first)
}

// localRoot tells the first elements of this module's folders.
func localRoot(first string) bool {
	for _, r := range importTable() {
		if root, _, _ := strings.Cut(r.dir, "/"); root == first {
			return true
		}
	}
	return false
}

func isLocal(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return localRoot(first)
}
