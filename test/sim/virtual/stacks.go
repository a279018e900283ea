package virtual

import "runtime"

const (
	frameSize = 64 << 10
	frames    = 128
)

// enlargeStacks lets new goroutines of the program begin with large stacks. The runtime gives them
// the average size of the used ones, so it starts a goroutine that uses much and waits for ever.
// A call of an SDK and the answer of a simulator need 40 KiB in one goroutine. A stack that begins
// with 8 KiB grows three times on the way, and each time all frames are copied: a tenth
// of the processor time of such tests.
func enlargeStacks() {
	waits := make(chan struct{})
	go occupyStack(frames, func() {
		close(waits)
		select {}
	})
	<-waits
	runtime.GC() // which computes the average
}

// occupyStack calls a function below so many frames.
func occupyStack(frames int, then func()) {
	var room [frameSize]byte
	if frames == 0 {
		then()
	} else {
		occupyStack(frames-1, then)
	}
	useFrame(&room)
}

//go:noinline
func useFrame(*[frameSize]byte) {}
