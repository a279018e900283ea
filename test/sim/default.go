package sim

import "k8s.io/utils/clock"

// Default sets an option that is left at its zero value.
func Default[T comparable](at *T, value T) {
	var zero T
	if *at == zero {
		*at = value
	}
}

// RealClock sets the clock of the machine where no other is given.
func RealClock(at *clock.PassiveClock) {
	if *at == nil {
		*at = clock.RealClock{}
	}
}
