package compute

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// Load puts a resource into the cloud as it is, without any check: what a seed
// begins with. Path is the resource from "projects/" on.
func (a *API) Load(path string, doc wire.Object, at time.Time) error {
	ref, err := wire.ParseAny(path, "", "path")
	if err != nil {
		return fmt.Errorf("resource %s: %w", path, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, col := range a.collections {
		if col.name != ref.Collection {
			continue
		}
		out := doc.Clone()
		out["name"] = ref.Name
		a.seal(col, ref, out)
		out["creationTimestamp"] = formatTime(at)
		e := &entry{ref: ref, doc: out}
		if out.Has("fingerprint") {
			out["fingerprint"] = e.contents()
		}
		a.st.put(e)
		return nil
	}
	return fmt.Errorf("resource %s: collection %q: not known", path, ref.Collection)
}

// Snapshot gives every resource by its path, for people and for comparisons,
// with the members of groups under "members".
func (a *API) Snapshot() map[string]any {
	a.mu.RLock()
	defer a.mu.RUnlock()
	out := map[string]any{}
	c := &call{Request: &wire.Request{Now: a.opt.Clock.Now().UTC()}, api: a, st: a.st}
	for _, col := range a.collections {
		for _, parent := range slices.Sorted(maps.Keys(a.st.items)) {
			if !strings.HasSuffix(parent, "/"+col.name) {
				continue
			}
			for _, e := range a.st.items[parent] {
				c.Path = map[string]string{"project": e.ref.Project}
				doc := c.render(col, e)
				if len(e.members) > 0 {
					doc["members"] = memberDocs(e.members)
				}
				out[e.ref.Path()] = doc
			}
		}
	}
	return out
}

func memberDocs(list []member) []any {
	var out []any
	for _, m := range list {
		if m.endpoint != nil {
			out = append(out, m.endpoint)
			continue
		}
		out = append(out, m.instance.URL())
	}
	return out
}
