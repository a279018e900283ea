package kit

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
)

// LimitIn finds the quota of a refusal in its text. The patterns have groups called "name", "most"
// and "used"; the first pattern that finds a field determines it.
func LimitIn(said Refusal, patterns ...*regexp.Regexp) fault.Limit {
	var out fault.Limit
	for _, pattern := range patterns {
		found := pattern.FindStringSubmatch(said.Text)
		group := func(name string) string {
			if i := pattern.SubexpIndex(name); i >= 0 && found != nil {
				return strings.TrimSpace(found[i])
			}
			return ""
		}
		out.Name = cmp.Or(out.Name, group("name"))
		out.Most = cmp.Or(out.Most, wholeNumber(group("most")))
		out.Used = cmp.Or(out.Used, wholeNumber(group("used")))
	}
	return out
}

// wholeNumber removes decimals that are zero, as in "8.0".
func wholeNumber(figure string) string {
	whole, decimals, has := strings.Cut(figure, ".")
	if has && strings.Trim(decimals, "0") == "" {
		return whole
	}
	return figure
}
