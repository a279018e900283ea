package service

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"

	"github.com/berth-lb/berth/stack/engine"
)

// fenceWait is the pause before a Service is queued again while the process may not
// write.
const fenceWait = time.Second

// fenced returns why the process must not write now; nil: it may.
func (c *Controller) fenced() error { return errOf(c.options.Fence) }

func errOf(f engine.Fence) error {
	if f == nil {
		return nil
	}
	return f.Err()
}

// fencedRecorder records events while the process may write. After the end of its Lease a process
// observes the work of another one, such as a Service that was released meanwhile.
type fencedRecorder struct {
	record.EventRecorder
	fence engine.Fence
}

// Event implements record.EventRecorder.
func (r fencedRecorder) Event(object runtime.Object, kind, reason, message string) {
	if errOf(r.fence) == nil {
		r.EventRecorder.Event(object, kind, reason, message)
	}
}
