package plan

import (
	"cmp"
	"strings"
	"time"

	"github.com/berth-lb/berth/stack"
)

// Action is what a step does to its resource.
type Action string

const (
	// Create creates a missing resource.
	Create Action = "create"
	// Update changes fields of a resource in place.
	Update Action = "update"
	// Delete removes a resource that no Service desires any more.
	Delete Action = "delete"
	// Forget ends our claim on a resource that stays, because others use it.
	Forget Action = "forget"
)

// PartRewrite is the part of an update that writes a failed resource as it is desired
// already. It has no changes.
const PartRewrite = "rewrite"

// Reason is the cause of a step.
type Reason string

const (
	// Missing means that the desired resource was not found.
	Missing Reason = "missing"
	// Changed means that fields differ from the desired ones.
	Changed Reason = "changed"
	// Initial means that a new resource is created without the desired values.
	Initial Reason = "initial"
	// Replaced means that a field differs that cannot be changed in place.
	Replaced Reason = "replaced"
	// Unwanted means that the observed resource is not desired.
	Unwanted Reason = "unwanted"
	// Shared means that only other Services desire the resource.
	Shared Reason = "shared"
)

// Impact is what a step does to traffic.
type Impact string

const (
	// NoImpact leaves traffic as it is.
	NoImpact Impact = ""
	// Brief can interrupt new connections for seconds.
	Brief Impact = "brief"
	// Interrupts cuts traffic until the plan is complete, or permanently.
	Interrupts Impact = "interrupts"
)

// StepID names a step; it is unique in the process.
type StepID struct {
	Owner  stack.Owner
	Key    stack.Key
	Action Action
	Part   string
}

// String returns the action, the key and the part.
func (id StepID) String() string {
	s := string(id.Action) + " " + id.Key.String()
	if id.Part != "" {
		s += " " + id.Part
	}
	return s
}

// Compare orders step identifiers.
func (id StepID) Compare(o StepID) int {
	return cmp.Or(id.Owner.Compare(o.Owner), id.Key.Compare(o.Key), strings.Compare(string(id.Action), string(o.Action)), strings.Compare(id.Part, o.Part))
}

// Change is one field that a step writes.
type Change struct {
	Field string
	From  any // observed; nil for a creation
	To    any // desired; nil for a deletion
	// Added and Removed are the members that this step adds to or removes from a
	// set field; both are empty if the field is written as a whole.
	Added, Removed []any
	Forces         bool // the field cannot change in place and forces the replacement
}

// Gate is an observation that a step waits for.
type Gate struct {
	// After is the minimum time since Since was observed.
	After time.Duration
	// Since names what starts the clock, in words: "status shows the new load balancer".
	Since string
	// Part means that the load balancer stays, and only a part of it is deleted.
	Part bool
}

// IsZero reports whether there is nothing to wait for.
func (g Gate) IsZero() bool { return g == Gate{} }

// OpenGates returns 0 for every gate: no switch to a new load balancer is pending.
func OpenGates(Gate) time.Duration { return 0 }

// Pair is a replacement: the step that creates the new resource and the one that
// deletes the old one. Their keys differ where the kind does.
type Pair struct {
	Create, Delete StepID
	Order          Replacement // the half that is performed first
	// Restore means that a replacement that deletes first creates the old resource
	// again if the new one is refused.
	Restore bool
}

// IsZero reports whether there is no replacement.
func (p Pair) IsZero() bool { return p == Pair{} }

// Other returns the other half.
func (p Pair) Other(half StepID) StepID {
	if half == p.Create {
		return p.Delete
	}
	return p.Create
}

// Step is one write call, or a member of a call for many steps.
type Step struct {
	ID      StepID
	Target  stack.Resource   // desired; observed for Delete and Forget
	With    []stack.Resource // parts that the same call creates
	Found   stack.Spec       // the observed spec; nil for a creation
	Changes []Change
	Reason  Reason
	Why     string // details of the reason, in words
	Waits
	Pair Pair // the replacement that the step is a half of; zero: none
	Remedies
	Batch  string // steps with equal batch keys are sent in one call, one such call at a time; empty: alone
	Impact Impact
	// Prepares reports that the step only prepares the steps that need it, such as a
	// reservation for the time of a replacement: it is blocked when all of them are.
	Prepares bool
}

// Waits are what a step waits for.
type Waits struct {
	Needs  []StepID   // steps that must be complete before
	Behind []*Barrier // groups of steps that must be complete before
	Gate   Gate
	// Locks are names that one call at a time can hold, across kinds and owners, such
	// as a load balancer that accepts one change at a time.
	Locks []string
}

// Remedies are what is performed where a step is not.
type Remedies struct {
	// Otherwise lists steps in place of this one. Updates write the backends of today, also
	// where it waits for a gate or is blocked. Creates restore what was deleted before it,
	// where it is refused.
	Otherwise []Step
	// Undoes lists the replacements that are of no use without the step. Where the cloud
	// refuses it, their new resources are deleted and the old ones are created again. Where it
	// is blocked, they are blocked as well.
	Undoes []Pair
}

// Members returns what a step adds to and removes from its set field.
func Members[T any](s Step) (add, remove []T) {
	for _, c := range s.Changes {
		add = append(add, convertValues[T](c.Added)...)
		remove = append(remove, convertValues[T](c.Removed)...)
	}
	return add, remove
}

func convertValues[T any](in []any) []T {
	var out []T
	for _, v := range in {
		if t, ok := v.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// Touches reports whether the step changes the field.
func (s Step) Touches(field string) bool {
	for _, c := range s.Changes {
		if c.Field == field {
			return true
		}
	}
	return false
}
