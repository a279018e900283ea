package fault

import (
	"fmt"
	"runtime/debug"
)

// Defect is the cause of a fault that a panic brought to light.
type Defect struct {
	Cause any    // what was given to panic
	Stack string // of the goroutine that panicked
}

// Error is what the program said of itself.
func (d *Defect) Error() string { return fmt.Sprint("panic: ", d.Cause) }

// Guarded runs f and returns nil, or a fault of the meaning if f panics; what it says
// is for users, and its cause, a *Defect, for the log. A Defect that f passes on by a
// panic of its own keeps its stack.
func Guarded(meaning Meaning, f func()) (fault *Fault) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		defect, passed := cause.(*Defect)
		if !passed {
			defect = &Defect{Cause: cause, Stack: string(debug.Stack())}
		}
		fault = &Fault{Meaning: meaning, Text: "the controller has a defect; its log has the details", Err: defect}
	}()
	f()
	return nil
}
