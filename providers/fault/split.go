package fault

import "fmt"

// MaxSplits is how many calls beyond the first a search for guilty members may
// cost. It bounds the load that one bad member brings, at the price that very
// many bad ones need several runs.
const MaxSplits = 16

// Refused is a member that was left out, and why.
type Refused[T any] struct {
	Member T
	Err    error
}

// Split calls with all members and, if the cloud refuses them for something
// that only some are guilty of, again with halves of what was refused, down to
// single members, which are returned as refused. It makes at most budget calls
// after the first one. Members that are still together when the budget is spent
// are returned as refused with the meaning Pending: they may be good, and the
// next run goes on with them.
//
// Any other fault ends the search and is returned as err; most of all an
// ambiguous one, because asking again would double the load exactly when the
// cloud is down. What was refused until then is returned with it.
func Split[T any](members []T, budget int, call func([]T) error) (refused []Refused[T], err error) {
	if len(members) == 0 {
		return nil, nil
	}
	err = call(members)
	if err == nil || !OfMember(err) {
		return nil, err
	}
	s := splitter[T]{budget: budget, call: call, suspects: []suspect[T]{{members, err}}}
	err = s.search()
	return s.refused, err
}

// suspect is members of whom at least one is guilty.
type suspect[T any] struct {
	members []T
	err     error
}

type splitter[T any] struct {
	budget   int
	call     func([]T) error
	suspects []suspect[T] // the largest first, so that a short budget brings in most
	refused  []Refused[T]
}

func (s *splitter[T]) search() error {
	for len(s.suspects) > 0 {
		next := s.suspects[0]
		s.suspects = s.suspects[1:]
		switch {
		case len(next.members) == 1:
			s.refuse(next.members, next.err)
		case s.budget <= 0:
			s.postpone(next.members, next.err)
		default:
			if err := s.halve(next); err != nil {
				return err
			}
		}
	}
	return nil
}

// halve tries both halves. When the first is good the second is guilty without
// a call, since together they were refused.
func (s *splitter[T]) halve(whole suspect[T]) error {
	half := len(whole.members) / 2
	first, second := whole.members[:half], whole.members[half:]
	guilty, err := s.ask(first)
	if err != nil {
		return err
	}
	if guilty == nil {
		s.suspects = append(s.suspects, suspect[T]{second, whole.err})
		return nil
	}
	s.suspects = append(s.suspects, suspect[T]{first, guilty})
	if s.budget <= 0 {
		s.postpone(second, whole.err)
		return nil
	}
	guilty, err = s.ask(second)
	if guilty != nil {
		s.suspects = append(s.suspects, suspect[T]{second, guilty})
	}
	return err
}

// ask spends one call; guilty is a refusal of these members.
func (s *splitter[T]) ask(members []T) (guilty, err error) {
	s.budget--
	err = s.call(members)
	if err != nil && OfMember(err) {
		return err, nil
	}
	return nil, err
}

// postpone leaves members of whom nobody knows who is guilty for the next run.
func (s *splitter[T]) postpone(members []T, err error) {
	s.refuse(members, &Fault{Meaning: Pending, Err: err, Text: fmt.Sprintf("not tried alone yet, because some member was refused: %v", err)})
}

func (s *splitter[T]) refuse(members []T, err error) {
	for _, m := range members {
		s.refused = append(s.refused, Refused[T]{Member: m, Err: err})
	}
}

// OfMember tells whether a call with many members may have been refused for
// only some of them, so that a closer look can help.
func OfMember(err error) bool {
	switch Of(err) {
	case Invalid, Exists, Quota, NotFound:
		return true
	default:
		return false
	}
}
