package permissions

import (
	"maps"
	"slices"
	"strings"
)

// Cloud is what must be known of a cloud's permissions.
type Cloud struct {
	// File is the name of its file in docs/permissions.
	File string
	// verb says what a permission is called that an operation of a collection needs
	// by itself; false: the table does not know.
	verb func(service, collection, operation string) (string, bool)
	// implied are the permissions that an operation needs on what it refers to, by
	// "collection.operation"; each with its source.
	implied map[string]implied
	// rare are operations that the walks do not reach, each with what it takes.
	rare map[string]string
	// free are the services and operations that need no permission, with the reason.
	free map[string]string
	// file writes the permissions, sorted, the way that the vendor reads them.
	file func(needs []string) ([]byte, error)
}

// implied is what an operation needs besides its own permission.
type implied struct {
	needs  []string
	source string
}

// needs is what a list of operations needs, sorted, and what is wrong with the
// tables: operations that they do not know, and lines that nothing calls for.
func (c Cloud) needs(operations []string) (needs, wrong []string) {
	used := map[string]bool{}
	for _, o := range slices.Sorted(maps.Keys(c.rare)) {
		if slices.Contains(operations, o) {
			wrong = append(wrong, o+" is said to be rare and is called")
		}
		operations = append(operations, o)
	}
	for _, o := range operations {
		service, rest, _ := strings.Cut(o, ".")
		collection, operation, found := strings.Cut(rest, ".")
		if !found {
			collection, operation = service, rest
		}
		if c.free[service] != "" {
			used[service] = true
			continue
		}
		need, ok := c.verb(service, collection, operation)
		if !ok {
			wrong = append(wrong, o+" is called, and nothing says what it needs")
			continue
		}
		key := collection + "." + operation
		used[key] = true
		needs = append(append(needs, need), c.implied[key].needs...)
	}
	for key := range c.implied {
		if !used[key] {
			wrong = append(wrong, key+" is in the table and nothing calls it")
		}
	}
	for key := range c.free {
		if !used[key] {
			wrong = append(wrong, key+" is in the table and nothing calls it")
		}
	}
	slices.Sort(needs)
	slices.Sort(wrong)
	return slices.Compact(needs), wrong
}
