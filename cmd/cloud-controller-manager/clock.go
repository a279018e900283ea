package main

import "time"

// sinceEpoch is the time of the wall clock. It counts suspension, but an operator can set
// it back: a Lease then seems younger than it is.
func sinceEpoch() time.Duration { return time.Duration(time.Now().UnixNano()) }
