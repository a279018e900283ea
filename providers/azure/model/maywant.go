package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// mayWant tells whether a Service that cannot be built might want something that
// is shared. It errs on yes, except where the thing says whose it is: a public IP
// lists its Services, and an address that one Service has alone is that one's.
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
