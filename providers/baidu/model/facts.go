package model

// Facts is what Build may know of the cloud. It is shared between Services and never written to
// after a read.
type Facts struct{}
