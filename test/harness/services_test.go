package harness

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestEventuallySlow: a condition that becomes true is noticed soon, however long it took, with a
// small part of the requests that constant polling takes.
func TestEventuallySlow(t *testing.T) {
	for _, after := range []time.Duration{0, 300 * time.Millisecond, 4 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			began, asked := time.Now(), 0
			err := EventuallySlow(t.Context(), time.Hour, func(context.Context) error {
				asked++
				if time.Since(began) < after {
					return errors.New("not yet")
				}
				return nil
			})
			late := time.Since(began) - after
			if err != nil || late > max(after/20, often) || late > 10*often {
				t.Errorf("%s: %v, %s late", after, err, late)
			}
			if most := int(after / often); after > 10*time.Second && asked > most/5 {
				t.Errorf("%s: asked %d times, of %d if it asked all the time", after, asked, most)
			}
		})
	}
}

// TestEventuallySlowEnds: when the time is over the last answer is returned.
func TestEventuallySlowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, not := time.Now(), errors.New("never")
		err := EventuallySlow(t.Context(), time.Minute, func(context.Context) error { return not })
		if !errors.Is(err, not) || time.Since(began) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
