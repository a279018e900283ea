package query

import (
	"encoding/base64"
	"strings"
)

const tokenPrefix = "page:"

// Page cuts one page out of items, which must be sorted by key. The token is
// opaque to clients and holds the key after which the page starts, so a listing
// survives that items come and go meanwhile. next is "" on the last page; ok is
// false for a token that Page never gave out. A size of 0 means no limit.
func Page[T any](items []T, key func(T) string, token string, size int) (page []T, next string, ok bool) {
	if token != "" {
		raw, err := base64.StdEncoding.DecodeString(token)
		last, found := strings.CutPrefix(string(raw), tokenPrefix)
		if err != nil || !found {
			return nil, "", false
		}
		start := 0
		for start < len(items) && key(items[start]) <= last {
			start++
		}
		items = items[start:]
	}
	if size <= 0 || len(items) <= size {
		return items, "", true
	}
	return items[:size], base64.StdEncoding.EncodeToString([]byte(tokenPrefix + key(items[size-1]))), true
}
