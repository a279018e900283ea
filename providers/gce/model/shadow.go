package model

import "github.com/berth-lb/berth/stack"

// shadow tells whether a Service that cannot be built might want something
// shared. Any Service may: all that is counted is the cluster's, not one
// Service's.
func shadow(_ identity, entry stack.Resource) bool { return entry.Hold == stack.Counted }
