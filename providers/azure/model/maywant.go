package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// mayWant reports whether a Service that cannot be built might want a shared resource. In
// doubt it returns true, except where the resource names its users: a public IP lists its
// Services, and an address that only one Service has belongs to that Service.
func mayWant(id identity, entry stack.Resource) bool {
	base := BaseName(id.Owner.UID)
	switch spec := entry.Spec.(type) {
	case PublicIP:
		return len(spec.Services) == 0 || slices.Contains(spec.Services, ServiceKey(id.Owner)) || strings.Contains(spec.Name, base)
	case Access:
		return !spec.Alone
	case Policy:
		return false // it is never undone
	}
	return true
}
