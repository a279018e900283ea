package fault

import "errors"

// MaxSplits is how many calls beyond the first a search for guilty members may
// cost in one run. It bounds the load that bad members bring: one costs about
// log2(n) calls, and where many are bad the next run goes on with what is known.
const MaxSplits = 96

// Refused is a member that was left out, and why.
type Refused[T any] struct {
	Member T
	Err    error
}

// Split calls with all members and, if the cloud refuses them for something
// that only some are guilty of, again with parts of what was refused, down to
// single members, which are returned as refused. It makes at most budget calls
// after the first one. Members of whom nobody knows by then whether they are good
// are returned as refused with the meaning Pending, by an error that says nothing
// of the others.
//
// Any other fault ends the search and is returned as err; most of all an
// ambiguous one, because asking again would double the load exactly when the
// cloud is down. What was refused until then is returned with it.
//
// Where the same members are tried again and again, SplitAmong goes on with what
// an earlier search has found.
func Split[T any](members []T, budget int, call func([]T) error) (refused []Refused[T], err error) {
	return SplitAmong(nil, "", members, nil, budget, call)
}

// SplitAmong is Split with a memory: what was refused alone before is tried alone
// and last, and what was refused together and not yet told apart is tried apart
// from the rest. Target is what the members are put into; name tells members apart
// and should say all that may decide on a refusal. With b bad of n members all
// good ones are in after about b*log2(n) calls, however many runs they are spread
// over. A nil memory remembers nothing.
func SplitAmong[T any](s *Suspects, target string, members []T, name func(T) string, budget int, call func([]T) error) (refused []Refused[T], err error) {
	h := &hunt[T]{budget: budget + 1, call: call, memory: s, target: target, name: name}
	groups, guilty := s.sort(target, len(members), func(i int) string { return name(members[i]) })
	for _, g := range groups {
		if err := h.try(pick(members, g)); err != nil {
			return h.refused, err
		}
	}
	for _, g := range guilty {
		if err := h.again(members[g.place], g.err); err != nil {
			return h.refused, err
		}
	}
	return h.refused, nil
}

func pick[T any](of []T, places []int) []T {
	out := make([]T, len(places))
	for i, at := range places {
		out[i] = of[at]
	}
	return out
}

// hunt is one search for guilty members.
type hunt[T any] struct {
	budget  int
	call    func([]T) error
	refused []Refused[T]

	memory *Suspects
	target string
	name   func(T) string
}

// try brings in members of whom nothing is known. Of those that are refused it
// finds one guilty member after the other. What it tries at a time is halved with
// each one found and doubled with each part that is good: where many are bad, few
// at a time are good, and where few are, many.
func (h *hunt[T]) try(members []T) error {
	size := len(members)
	for len(members) > 0 {
		if h.budget <= 0 {
			h.postpone(members)
			return nil
		}
		size = min(max(size, 1), len(members))
		refusal, err := h.probe(members[:size])
		if err != nil {
			return err
		}
		if refusal == nil {
			members, size = members[size:], 2*size
			continue
		}
		rest, err := h.narrow(members[:size], refusal)
		if err != nil {
			return err
		}
		members = append(rest, members[size:]...)
		size /= 2
	}
	return nil
}

// narrow finds one guilty member among those that were refused together, by
// halves: if the first half is good it is in, and the guilty one is in the second,
// without a call. It returns those of whom nothing is known yet.
func (h *hunt[T]) narrow(members []T, refusal error) (rest []T, err error) {
	for len(members) > 1 {
		if h.budget <= 0 {
			h.postpone(members)
			return rest, nil
		}
		half := (len(members) + 1) / 2
		first, second := members[:half], members[half:]
		again, err := h.probe(first)
		switch {
		case err != nil:
			return nil, err
		case again == nil:
			members = second
		default:
			members, refusal = first, again
			rest = append(append([]T{}, second...), rest...)
		}
	}
	h.refuse(members[0], refusal)
	return rest, nil
}

// again tries a member alone that was refused before.
func (h *hunt[T]) again(member T, before error) error {
	if h.budget <= 0 {
		h.refused = append(h.refused, Refused[T]{member, before})
		return nil
	}
	refusal, err := h.probe([]T{member})
	if refusal != nil {
		h.refuse(member, refusal)
	}
	return err
}

// probe spends one call; refusal is one of these members.
func (h *hunt[T]) probe(members []T) (refusal, err error) {
	h.budget--
	err = h.call(members)
	switch {
	case err == nil:
		h.memory.clear(h.target, h.names(members))
	case OfMember(err):
		return err, nil
	}
	return nil, err
}

// postpone leaves members of whom nobody knows who is guilty for the next run.
func (h *hunt[T]) postpone(members []T) {
	h.memory.together(h.target, h.names(members))
	for _, m := range members {
		h.refused = append(h.refused, Refused[T]{m, Undecided()})
	}
}

func (h *hunt[T]) refuse(member T, err error) {
	h.memory.alone(h.target, h.names([]T{member}), err)
	h.refused = append(h.refused, Refused[T]{member, err})
}

// names are those of the members, where somebody asks for them.
func (h *hunt[T]) names(members []T) func() []string {
	return func() []string {
		out := make([]string, len(members))
		for i, m := range members {
			out[i] = h.name(m)
		}
		return out
	}
}

// OfMember tells whether a call with many members may have been refused for
// only some of them, so that a closer look can help.
func OfMember(err error) bool {
	if f, ok := errors.AsType[*Fault](err); ok && f.OfSome {
		return true
	}
	switch Of(err) {
	case Invalid, Taken, Exists, Quota, NotFound:
		return true
	default:
		return false
	}
}
