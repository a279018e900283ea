package diff

import (
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Order is the order of the two halves of a replacement.
type Order int

const (
	// CreateFirst creates the new resource before the old one is deleted. Equal slots
	// turn it into DeleteFirst, because both cannot exist at once.
	CreateFirst Order = iota
	// DeleteFirst removes the old resource before the new one is made.
	DeleteFirst
)

// Clash is what a create does when its name is taken already.
type Clash int

const (
	// Refused: the create fails and nothing changes. Only such kinds may be planned without a read.
	Refused Clash = iota
	// Returned: the create answers with the existing resource, of any owner.
	Returned
	// Doubled: a second resource of the same name appears.
	Doubled
)

// Set describes a field whose members are written by calls that add and remove.
type Set struct {
	// Chunk is the greatest number of members in one call; 0 means no limit.
	Chunk int
	// RemoveFirst is for sets whose new members may exclude old ones, such as
	// one subnet per zone. Otherwise members are added before others go.
	RemoveFirst bool
	// Whole sets are written by one call that says all members, so that one step adds
	// and removes.
	Whole bool
	// Class returns the name of a group of members that steps of their own add and remove, so
	// that edges can order them: "name+" and "name-". Empty: no group. Nil: there are none.
	Class func(want stack.Spec, member any) string
}

// Within says how a resource hangs on the one that it is In.
type Within struct {
	Inline  bool // created in the parent's creating call if the parent is created as well
	Cascade bool // deleted with its parent, without a call of its own
	// Inherent resources exist as soon as their parent does, with the spec that
	// Default tells: they are never created or deleted, only updated.
	Inherent bool
	// Default returns the spec that a wanted Inherent resource has right after its parent's
	// creation.
	Default func(want stack.Resource) stack.Spec
}

// Fields says how the fields of a kind are compared and written. Names are those of the
// kind's spec struct.
type Fields struct {
	Immutable []string // a difference here replaces the resource
	// Fixed fields can be changed neither in place nor by a replacement, because that
	// would lose data: a difference is reported, and all other changes continue.
	Fixed  []string
	Sets   map[string]Set    // fields written member by member
	Ignore []string          // fields that matter at creation only and are never compared
	Sticky []string          // empty in want means: as found
	Subset []string          // maps of which only the wanted keys are ours; others stay as they are
	Equal  map[string]Equal  // comparisons looser than ==, each with its reason beside it; of a field in Subset they alone decide
	Parts  map[string]string // fields that a call of their own writes, by the name of that call
}

// Traffic says what the resources of a kind do for clients.
type Traffic struct {
	// Role is the part of the kind. Orders follow from it; see [Rules.Orders].
	Role Role
	// WidenLast reports of a resource that admits traffic that it may admit traffic to other
	// Services as well, such as a firewall for an address that they share: it is widened
	// only after the ports that it is for exist. Nil: no resource of the kind does.
	WidenLast func(stack.Resource) bool
	// Contested resources may be deleted by another controller beside this program, until the
	// status of their Service has its address.
	Contested bool
	// Single says that a stack wants one of the kind at most: one of another name that is
	// found takes part in a switch as one of another kind does.
	Single bool
	// FollowsBackends marks kinds whose desired state depends on the nodes and pods behind
	// the Service: after a change of these, only such kinds must be read.
	FollowsBackends bool
	Impact          map[string]plan.Impact // by field, or by "create", "delete", "replace"
	// Idle reports whether an observed resource serves no client, so that its deletion
	// affects no traffic; nil: none is idle.
	Idle func(stack.Spec) bool
}

// Rule is how resources of one kind are compared and written.
type Rule struct {
	Fields
	Traffic
	Within  Within
	Replace Order
	// Restore says of a kind whose replacement deletes first that the old resource can be
	// created again from what was found, should the cloud refuse the new one.
	Restore bool
	Clash   Clash
	Linger  *Linger      // nil: a replaced resource is deleted as soon as possible
	Pending WhilePending // of a found one that the cloud is still making or changing
	Failed  OnceFailed   // of a found one that the cloud has given up
	// Keeps lists what else stays as long as a Service wants a shared resource, such as
	// the firewall of a health check: a Service that wants the one counts as wanting the
	// others.
	Keeps func(stack.Key) []stack.Key
	// ProvenBy lists the kinds that are the evidence that a resource of this kind is ours.
	// They are created before it and deleted after it.
	ProvenBy []stack.Kind
	// Prepares says that creations of the kind only prepare the steps that need them.
	Prepares bool
	// Batch names the call that a step may share with others; nil or "": alone.
	Batch func(stack.Resource, plan.Action, string) string
}

// Equal compares one field of a wanted and a found spec.
type Equal func(want, have any) bool

// SameFold is an Equal of texts that differ in case at most.
func SameFold(want, have any) bool {
	w, _ := want.(string)
	h, _ := have.(string)
	return strings.EqualFold(w, h)
}

// Match selects steps by action, kind and part; empty fields match everything.
// A part matches by its beginning, so that "rules+" covers all its chunks.
type Match struct {
	Action plan.Action
	Kind   stack.Kind
	Name   string // the name in the resource's key
	Part   string
	Effect Effect                    // what the step does to traffic; zero: anything
	Where  func(stack.Resource) bool // judges the step's resource; nil matches everything
}

// Edge orders steps that no reference orders, and that roles do not order either.
type Edge struct {
	First, Then Match
	// Same restricts the edge to pairs of which one resource is In the other or
	// both are In the same one.
	Same bool
	// Soft edges give way to all other needs: a second step that one of the first ones
	// needs already is not behind them.
	Soft   bool
	Reason string
	// routed restricts the edge to pairs of which the second resource refers to the first
	// one, or to what that is In; a second one without references is related to the
	// resources that are In the same.
	routed   bool
	exchange exchange // whether the steps are undone as one
}

// Rules is what a provider says about all its kinds.
type Rules struct {
	Kinds map[stack.Kind]Rule
	Edges []Edge
	// Lock names what takes one change at a time, such as a load balancer that is
	// busy while a change of it, or of anything in it, is made. Steps with the same
	// name, of whatever kind, batch and Service, run one after the other. Nil: nothing
	// does.
	Lock Lock
	// Over reports that no caller waits for the plan any more; nil: never. Compare then
	// ends, with a plan that does nothing.
	Over func() bool
	// Today returns the found stack with the backends of today, for one plan. Nil: what is
	// to be deleted keeps the backends that it has.
	Today func() *stack.Stack
	// orders are what [Rules.Orders] returns; nil: they are derived for each plan.
	orders []Edge
}

func (r Rules) over() bool { return r.Over != nil && r.Over() }

// Lock returns the names of the locks that a step on the resource needs; observed
// resources have the identifiers that Services share.
type Lock func(o stack.Owner, r stack.Resource, found func(stack.Key) (stack.Resource, bool)) []string
