package offline

import (
	"fmt"
	"strings"
)

// Change is a change of one annotation: another value, or its removal.
type Change struct {
	Key, Value string
	Remove     bool
}

// ParseChanges reads KEY=VALUE texts and the keys to remove.
func ParseChanges(set, unset []string) ([]Change, error) {
	var out []Change
	for _, text := range set {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("--set %q: want KEY=VALUE", text)
		}
		out = append(out, Change{Key: key, Value: value})
	}
	for _, key := range unset {
		out = append(out, Change{Key: key, Remove: true})
	}
	return out, nil
}

// change changes the annotations of every Service to show. A key that is to be removed from a
// Service without it is an error: it is probably misspelt.
func (w *World) change(changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	for i := range w.Items {
		item := &w.Items[i]
		if !item.Asked {
			continue
		}
		svc := item.Service.DeepCopy()
		for _, c := range changes {
			if _, found := svc.Annotations[c.Key]; c.Remove && !found {
				return fmt.Errorf("--unset %s: Service %s has no such annotation", c.Key, item.Owner())
			}
			if c.Remove {
				delete(svc.Annotations, c.Key)
				continue
			}
			if svc.Annotations == nil {
				svc.Annotations = map[string]string{}
			}
			svc.Annotations[c.Key] = c.Value
		}
		item.Service = svc
	}
	return nil
}
