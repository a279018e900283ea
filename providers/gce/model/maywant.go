package model

import "github.com/berth-lb/berth/stack"

// mayWant reports whether a Service that cannot be built might want something shared.
// Any Service may: everything shared is the cluster's, not one Service's.
func mayWant(_ identity, entry stack.Resource) bool { return entry.Ownership == stack.Shared }
