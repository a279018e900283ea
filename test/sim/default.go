package sim

import (
	"reflect"
	"strconv"

	"k8s.io/utils/clock"
)

// Default sets an option that is left at its zero value.
func Default[T comparable](at *T, value T) {
	var zero T
	if *at == zero {
		*at = value
	}
}

// Numbers sets the numbers of a struct that are left at zero to those of their tags, as in
// default:"50".
func Numbers(at any) {
	v := reflect.ValueOf(at).Elem()
	for i := range v.NumField() {
		if n, err := strconv.Atoi(v.Type().Field(i).Tag.Get("default")); err == nil && v.Field(i).IsZero() {
			v.Field(i).SetInt(int64(n))
		}
	}
}

// RealClock sets the clock of the machine where no other is given.
func RealClock(at *clock.PassiveClock) {
	if *at == nil {
		*at = clock.RealClock{}
	}
}
