package kit

import (
	"cmp"
	"slices"

	"github.com/berth-lb/berth/providers"
)

// Marked is one of several resources that carry the mark of one Service. A creation that took effect late
// is the reason for more than one.
type Marked struct {
	ID       string
	Created  string // in a form that sorts by time; empty: unknown
	Recorded bool   // the Service records it
	Partial  bool   // a part of the mark is missing, so that it is never deleted
	Failed   bool   // the cloud has given it up
}

// SortMarked orders resources of one mark. The first one stays: the one that the Service records, or else the
// oldest one that works. The others are duplicates, see [providers.DuplicateKey]. unsure is another one with a part of
// the mark: none is to be touched then.
func SortMarked[T any](found []T, of func(T) Marked) (unsure *T) {
	last := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	slices.SortFunc(found, func(x, y T) int {
		a, b := of(x), of(y)
		return cmp.Or(last(b.Recorded)-last(a.Recorded), last(a.Partial)-last(b.Partial), last(a.Failed)-last(b.Failed), cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	for i := 1; i < len(found); i++ {
		if of(found[i]).Partial {
			return &found[i]
		}
	}
	return nil
}

// IsRecorded reports whether the status of a Service has one of some addresses or host names.
func IsRecorded(s providers.Scope, addresses ...string) bool {
	return slices.ContainsFunc(addresses, func(a string) bool { return a != "" && slices.Contains(s.Addresses, a) })
}
