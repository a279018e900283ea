package wire

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// MaxPage is how many items a page holds at most, and without being asked.
// Source: Compute Engine API reference, maxResults.
const MaxPage = 500

// List are the options that all list calls share.
type List struct {
	filter Filter
	max    int
	after  string
	newest bool
	// Partial takes an answer without the places that cannot be reached.
	Partial bool
}

// ParseList reads the options out of the query.
func ParseList(q url.Values) (List, error) {
	l := List{max: MaxPage, Partial: q.Get("returnPartialSuccess") == "true"}
	filter, err := ParseFilter(q.Get("filter"))
	if err != nil {
		return l, err
	}
	l.filter = filter
	if text := q.Get("maxResults"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > MaxPage {
			return l, Invalid("maxResults", text, "Acceptable values are 0 to %d, inclusive", MaxPage)
		}
		if n > 0 {
			l.max = n
		}
	}
	switch order := q.Get("orderBy"); order {
	case "", "name":
	case "creationTimestamp desc":
		l.newest = true
	default:
		return l, Invalid("orderBy", order, "Only 'name' and 'creationTimestamp desc' are supported")
	}
	token, err := base64.URLEncoding.DecodeString(q.Get("pageToken"))
	if err != nil || (len(token) > 0 && !strings.HasPrefix(string(token), "after:")) {
		return l, Invalid("pageToken", q.Get("pageToken"), "The token is not one that this list gave.")
	}
	l.after = strings.TrimPrefix(string(token), "after:")
	return l, nil
}

// Page picks the items of one page out of all of them and gives the token of
// the next page, empty after the last. Key gives each item's place in the
// order, which must be unique.
func (l List) Page(items []Object, key func(Object) string) (page []Object, next string) {
	kept := slices.DeleteFunc(slices.Clone(items), func(o Object) bool { return !l.filter.Match(o) })
	slices.SortFunc(kept, func(a, b Object) int {
		if l.newest {
			if c := strings.Compare(b.Text("creationTimestamp"), a.Text("creationTimestamp")); c != 0 {
				return c
			}
		}
		return cmp.Compare(key(a), key(b))
	})
	start := 0
	if l.after != "" {
		// The item may be gone meanwhile; without a sort by age the place is still known.
		start = slices.IndexFunc(kept, func(o Object) bool { return !l.newest && key(o) > l.after })
		if l.newest {
			start = slices.IndexFunc(kept, func(o Object) bool { return key(o) == l.after }) + 1
		}
		if start < 0 {
			return nil, ""
		}
	}
	kept = kept[start:]
	if len(kept) > l.max {
		kept = kept[:l.max]
		next = base64.URLEncoding.EncodeToString([]byte("after:" + key(kept[l.max-1])))
	}
	return kept, next
}
