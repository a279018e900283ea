package fault

import "errors"

// MaxSplits is the maximum number of calls after the first one in a search for
// rejected members in one run. It bounds the load of rejected members: each costs
// about log2(n) calls, and if there are many, the next run continues the search.
const MaxSplits = 96

// Refused is a member that was left out, with the cause.
type Refused[T any] struct {
	Member T
	Err    error
}

// Split calls with all members. If the cloud refuses them because of some, it
// repeats the call with parts of them, down to single members, which are returned
// as refused. It makes at most budget calls after the first one. Members that are
// undecided by then are returned as refused with the meaning Pending, with an error
// that does not mention the others.
//
// Any other fault ends the search and is returned as err, above all an
// ambiguous one, because a repetition would double the load exactly when the
// cloud is down. The members refused until then are returned with it.
//
// If the same members are tried repeatedly, SplitAmong continues an earlier
// search.
func Split[T any](members []T, budget int, call func([]T) error) (refused []Refused[T], err error) {
	return SplitAmong(nil, "", members, nil, budget, call)
}

// SplitAmong is Split with a memory: members that were refused alone before are
// tried alone and last, and undecided members that were refused together are tried
// apart from the rest. Target is the resource of the members; name identifies
// members and should contain everything that a refusal can depend on. With b
// rejected of n members all valid ones are accepted after about b*log2(n) calls,
// over any number of runs. A nil memory remembers nothing.
func SplitAmong[T any](s *Suspects, target string, members []T, name func(T) string, budget int, call func([]T) error) (refused []Refused[T], err error) {
	h := &hunt[T]{budget: budget + 1, call: call, memory: s, target: target, name: name}
	groups, rejected := s.sort(target, len(members), func(i int) string { return name(members[i]) })
	for _, g := range groups {
		if err := h.try(pickAt(members, g)); err != nil {
			return h.refused, err
		}
	}
	for _, g := range rejected {
		if err := h.again(members[g.place], g.err); err != nil {
			return h.refused, err
		}
	}
	return h.refused, nil
}

func pickAt[T any](of []T, places []int) []T {
	out := make([]T, len(places))
	for i, at := range places {
		out[i] = of[at]
	}
	return out
}

// hunt is one search for rejected members.
type hunt[T any] struct {
	budget  int
	call    func([]T) error
	refused []Refused[T]

	memory *Suspects
	target string
	name   func(T) string
}

// try adds members without a history and finds the rejected ones one by one. The
// size of a call is halved with each rejected member and doubled with each accepted
// part: few members at a time if many are rejected, and many if few are.
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

// narrow finds one rejected member among members that were refused together, by
// halves: if the first half is accepted, the rejected member is in the second,
// without a call. It returns the members that are still undecided.
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

// postpone leaves undecided members for the next run.
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

// names returns the names of the members, if there is a memory.
func (h *hunt[T]) names(members []T) func() []string {
	return func() []string {
		out := make([]string, len(members))
		for i, m := range members {
			out[i] = h.name(m)
		}
		return out
	}
}

// OfMember reports whether a call with many members may have been refused because of
// some of them, so that a search can help.
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
