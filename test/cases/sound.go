package cases

import (
	"fmt"

	"github.com/berth-lb/berth/stack/plan"
)

// Sound returns an error if a plan could not be run as it is: it has a duplicate step, or a
// step whose requirement neither precedes it nor is held back with it.
func Sound(p plan.Plan) error {
	known := map[plan.StepID]bool{}
	for _, h := range p.Blocked {
		known[h.Step.ID] = true
	}
	done := map[plan.StepID]bool{}
	for _, s := range p.Steps {
		if done[s.ID] {
			return fmt.Errorf("%s occurs twice", s.ID)
		}
		for _, need := range s.Needs {
			if !done[need] {
				return fmt.Errorf("%s is ordered before %s, which it needs (held: %t)", s.ID, need, known[need])
			}
		}
		done[s.ID] = true
	}
	return nil
}

// Halves cuts bytes of a fuzzer into those of two Services.
func Halves(data []byte) (first, second []byte) { return data[:len(data)/2], data[len(data)/2:] }
