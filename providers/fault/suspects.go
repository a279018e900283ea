package fault

import (
	"slices"
	"sync"
	"time"
)

const (
	// decideSoon is the pause before undecided members are tried again.
	decideSoon = 2 * time.Second
	// mostSuspects bounds the number of members of one target, and of targets, that are
	// remembered. Beyond it the memory is cleared and built again.
	mostSuspects = 4096
)

// Suspects remembers, for each target, the members that were refused alone and the
// ones that were refused together with others. The zero value remembers nothing yet; it is safe for
// concurrent use and is kept as long as the session that makes the calls.
type Suspects struct {
	mu      sync.Mutex
	targets map[string]*suspects
}

// suspects are the suspects of one target.
type suspects struct {
	rejected map[string]refusal
	open     map[string]int // group of members that were refused together
	next     int            // counts groups and refusals
}

type refusal struct {
	err  error
	when int // in the order of refusals
}

// before is a member that was refused alone.
type before struct {
	place int
	refusal
}

// Undecided returns the error of an undecided member: it waits for a moment and does
// not mention the others.
func Undecided() *Fault {
	return &Fault{Meaning: Pending, After: decideSoon, Text: "not decided yet: it was sent in one call with others, which was refused, and is retried separately"}
}

// sort divides members into members without a history, groups that were refused
// together, and members that were refused alone, longest ago first.
func (s *Suspects) sort(target string, n int, name func(int) string) (groups [][]int, rejected []before) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	if s == nil || s.targets[target] == nil {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return [][]int{all}, nil
	}
	known := s.targets[target]
	groups = [][]int{nil}
	at := map[int]int{}
	for i := range n {
		name := name(i)
		if g, ok := known.rejected[name]; ok {
			rejected = append(rejected, before{i, g})
			continue
		}
		group, ok := known.open[name]
		if !ok {
			groups[0] = append(groups[0], i)
			continue
		}
		if at[group] == 0 {
			at[group] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[group]] = append(groups[at[group]], i)
	}
	slices.SortFunc(rejected, func(a, b before) int { return a.when - b.when })
	return groups, rejected
}

// Part divides members by whether they were refused alone before, for calls that
// check first why they were refused. A nil memory has none.
func Part[T any](s *Suspects, target string, members []T, name func(T) string) (rest, suspected []T) {
	groups, rejected := s.sort(target, len(members), func(i int) string { return name(members[i]) })
	for _, g := range groups {
		rest = append(rest, pickAt(members, g)...)
	}
	for _, g := range rejected {
		suspected = append(suspected, members[g.place])
	}
	return rest, suspected
}

// clear forgets members that were accepted.
func (s *Suspects) clear(target string, names func() []string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.targets[target]
	if known == nil {
		return
	}
	for _, name := range names() {
		delete(known.rejected, name)
		delete(known.open, name)
	}
	if len(known.rejected)+len(known.open) == 0 {
		delete(s.targets, target)
	}
}

// alone remembers that a member was refused as the only possible cause.
func (s *Suspects) alone(target string, names func() []string, err error) {
	s.note(target, func(known *suspects) {
		for _, name := range names() {
			known.rejected[name] = refusal{err, known.next}
			delete(known.open, name)
		}
	})
}

// together remembers that members were refused with each other.
func (s *Suspects) together(target string, names func() []string) {
	s.note(target, func(known *suspects) {
		for _, name := range names() {
			known.open[name] = known.next
		}
	})
}

func (s *Suspects) note(target string, write func(*suspects)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.targets == nil || len(s.targets) > mostSuspects {
		s.targets = map[string]*suspects{}
	}
	known := s.targets[target]
	if known == nil || len(known.rejected)+len(known.open) > mostSuspects {
		known = &suspects{rejected: map[string]refusal{}, open: map[string]int{}}
		s.targets[target] = known
	}
	known.next++
	write(known)
}
