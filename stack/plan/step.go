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
	// Create makes a resource that is not there.
	Create Action = "create"
	// Update changes fields of a resource in place.
	Update Action = "update"
	// Delete removes a resource that nobody wants any more.
	Delete Action = "delete"
	// Forget ends our claim on a resource that stays, because others want it.
	Forget Action = "forget"
)

// Reason is why a step is there.
type Reason string

const (
	// Missing means that the resource is wanted and was not found.
	Missing Reason = "missing"
	// Changed means that fields differ from what is wanted.
	Changed Reason = "changed"
	// Initial means that a new resource does not come with what is wanted of it.
	Initial Reason = "initial"
	// Replaced means that a field differs that cannot be changed in place.
	Replaced Reason = "replaced"
	// Unwanted means that the resource was found and is not wanted.
	Unwanted Reason = "unwanted"
	// Shared means that we no longer want it but others do.
	Shared Reason = "shared"
)

// Impact is what a step does to traffic.
type Impact string

const (
	// NoImpact leaves traffic as it is.
	NoImpact Impact = ""
	// Brief may interrupt new connections for seconds.
	Brief Impact = "brief"
	// Interrupts cuts traffic until the plan is done, or for good.
	Interrupts Impact = "interrupts"
)

// StepID names a step; it is unique in the process.
type StepID struct {
	Owner  stack.Owner
	Key    stack.Key
	Action Action
	Part   string
}

// String is the action, the key and the part.
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
	From  any // as found; nil at a creation
	To    any // as wanted; nil at a deletion
	// Added and Removed are the members that this step adds to or removes from a
	// set field; both empty where the field is written as a whole.
	Added, Removed []any
	Forces         bool // the field cannot change in place and forces the replacement
}

// Gate is what must be observed before a step may run.
type Gate struct {
	// After is the least time that must have passed since Since was observed.
	After time.Duration
	// Since names what starts the clock, in words: "status shows the new load balancer".
	Since string
	// Part says that a load balancer stays, and that what goes is only a part of it.
	Part bool
}

// IsZero tells whether the step waits for nothing.
func (g Gate) IsZero() bool { return g == Gate{} }

// OpenGates answers that nothing is left to wait for, whatever the gate: nobody switches
// to a new load balancer.
func OpenGates(Gate) time.Duration { return 0 }

// Pair is a replacement: the step that creates the new resource and the one that
// deletes the old one. Their keys differ where the kind does.
type Pair struct {
	Create, Delete StepID
	Order          Replacement // which one comes first
	// Restore says of a replacement that deletes first that the old resource is created
	// again if the new one is refused.
	Restore bool
}

// IsZero tells whether there is no replacement.
func (p Pair) IsZero() bool { return p == Pair{} }

// Other is the other half.
func (p Pair) Other(half StepID) StepID {
	if half == p.Create {
		return p.Delete
	}
	return p.Create
}

// Step is one writing call, or a member of one that is made for many.
type Step struct {
	ID      StepID
	Target  stack.Resource   // as wanted; as found for Delete and Forget
	With    []stack.Resource // parts that the same call creates
	Found   stack.Spec       // what the plan was made against; nil at a creation
	Changes []Change
	Reason  Reason
	Why     string     // the reason in words where the typed one does not say it all
	Needs   []StepID   // steps that must be done before
	Behind  []*Barrier // groups of steps that must be done before as well
	Pair    Pair       // the replacement of which the step is a half; zero: none
	Gate    Gate
	// Locks are names of which one call at a time may have each, across kinds and
	// owners, such as a load balancer that takes one change after the other.
	Locks []string
	// Otherwise lists updates that are performed where the step is not: it is refused, waits
	// for a gate, or is blocked. They write the backends of today.
	Otherwise []Step
	Batch     string // steps with equal batch keys go out in one call, one such call at a time; empty: alone
	Impact    Impact
	// Prepares reports that the step only prepares the steps that need it, such as a
	// reservation for the time of a replacement: it is blocked when all of them are.
	Prepares bool
}

// Members returns what a step adds to and removes from its set field.
func Members[T any](s Step) (add, remove []T) {
	for _, c := range s.Changes {
		add = append(add, typed[T](c.Added)...)
		remove = append(remove, typed[T](c.Removed)...)
	}
	return add, remove
}

func typed[T any](in []any) []T {
	var out []T
	for _, v := range in {
		if t, ok := v.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// Touches tells whether the step changes the field.
func (s Step) Touches(field string) bool {
	for _, c := range s.Changes {
		if c.Field == field {
			return true
		}
	}
	return false
}
