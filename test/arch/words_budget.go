package arch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Entry is one line of the budget: a folder and a phrase.
type Entry struct{ Dir, Phrase string }

// Budget is how often each folder still uses each phrase. What is missing is 0.
type Budget map[Entry]int

// ParseBudget reads lines of folder, phrase and count; "#" begins a comment.
func ParseBudget(text string) (Budget, error) {
	out := Budget{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("%q: want folder, phrase and count", strings.TrimSpace(line))
		}
		n, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
		}
		out[Entry{fields[0], fields[1]}] = n
	}
	return out, nil
}

// String formats a budget so that ParseBudget reads it, sorted by folder.
func (b Budget) String() string {
	var out strings.Builder
	out.WriteString("# Uses of phrases that the project gives up, by folder: see Phrases in words.go.\n# The numbers only go down: go test ./test/arch -run TestWords -update\n")
	for _, e := range slices.SortedFunc(maps.Keys(b), compareEntries) {
		if b[e] > 0 {
			fmt.Fprintf(&out, "%s %s %d\n", e.Dir, e.Phrase, b[e])
		}
	}
	return out.String()
}

func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Phrase, b.Phrase))
}

// CountWords counts offences by folder and phrase.
func CountWords(offences []Offence) Budget {
	out := Budget{}
	for _, o := range offences {
		out[Entry{o.Dir, o.Phrase}]++
	}
	return out
}

// Lower returns the budget after a clean-up: the lower one of both numbers.
func (b Budget) Lower(counted Budget) Budget {
	out := Budget{}
	for e, n := range b {
		out[e] = min(n, counted[e])
	}
	return out
}

// Check compares the counted uses with the budget. More is an offence, with all its
// places in the folder; less is one as well, since the next use would go unnoticed.
func (b Budget) Check(offences []Offence) []Finding {
	counted := CountWords(offences)
	all := maps.Clone(b)
	maps.Copy(all, counted)
	var out []Finding
	for _, e := range slices.SortedFunc(maps.Keys(all), compareEntries) {
		switch n := counted[e]; {
		case n > b[e]:
			out = append(out, Finding(fmt.Sprintf("%s: %q: %d uses, the budget is %d; write: %s", e.Dir, e.Phrase, n, b[e], insteadOf(e.Phrase))))
			for _, o := range offences {
				if o.Dir == e.Dir && o.Phrase == e.Phrase {
					out = append(out, Finding("  "+o.At))
				}
			}
		case n < b[e]:
			out = append(out, Finding(fmt.Sprintf("%s: %q: %d uses, the budget is %d: lower it with -update", e.Dir, e.Phrase, n, b[e])))
		}
	}
	return out
}

func insteadOf(phrase string) string {
	for _, p := range Phrases() {
		if p.Name == phrase {
			return p.Instead
		}
	}
	return ""
}
