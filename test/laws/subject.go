package laws

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// Subject is a cloud whose plans are held against the laws. Hooks may be nil.
type Subject struct {
	Name  string
	Rules diff.Rules
	Flows traffic.Func
	Cases []Case
	// Match is MatchFound of the cloud.
	Match func(want, have *stack.Stack) *stack.Stack
	// Existing lists what exists before any Service: resources that are External or Shared.
	Existing []stack.Resource
	// Sees reports whether a read for the owner returns a shared or external resource.
	// Nil: it always does.
	Sees func(o stack.Owner, r stack.Resource) bool
	// Read completes what a read returns, such as parts of another Service's load balancer
	// that the owner uses.
	Read func(w *World, view *stack.Stack) *stack.Stack
	// Created completes a new resource with what the cloud chooses, such as an address. Its
	// ID is set, and may be replaced.
	Created func(w *World, o stack.Owner, r stack.Resource) stack.Resource
	// Beside reports whether the cloud accepts a new resource beside an existing one with the
	// same key, such as one of another name. Nil: it does not.
	Beside func(existing, r stack.Resource) bool
	// AdmitsPorts says that what admits clients to a port of a Service does so at all its
	// addresses, also while one load balancer replaces another.
	AdmitsPorts bool
	// Updated does the same as Created after an update.
	Updated func(w *World, o stack.Owner, r stack.Resource) stack.Resource
	// Refuses returns an error for a step that the cloud cannot perform in this state, such
	// as a name that is taken.
	Refuses func(w *World, s plan.Step) error
	// Neighbours names pairs of cases of which each can be had while another Service has
	// the other; empty: no case shares anything.
	Neighbours [][2]string
	// Probes are ranges of health checks, which nodes admit at a port independent of its clients: a
	// port that serves them alone serves no client.
	Probes []netip.Prefix
	// Known lists violations that exist today. Each must occur, so that the list shrinks.
	Known []Known
	// planned is called with each new plan; nil: nothing is.
	planned func(*run, Move, *planned)
}

// Day says which nodes exist. On the second day one has been replaced by another.
type Day int

// The days.
const (
	Before Day = iota
	Today
)

// Case is one Service of a cloud.
type Case struct {
	Name string
	// Build returns the desired stack; nil if it is refused, and what exists stays.
	Build func(w *World, o stack.Owner, day Day, have *stack.Stack) *stack.Stack
	// Today returns the observed stack with the nodes of the day. Nil: what is to be deleted
	// keeps the nodes that it has.
	Today func(w *World, o stack.Owner, day Day, have *stack.Stack) *stack.Stack
	// Publish returns what the Service publishes of what it is known to have, such as the
	// addresses in its status, for later calls of [World.Published]; nil: what it has published
	// stays. It is called before Build.
	Publish func(w *World, o stack.Owner, day Day, have *stack.Stack) any
	// Vary returns the case of the same Service with a change, whose Build returns nil where the
	// Service is refused. Nil: [CheckRanges] leaves the case out.
	Vary func(change func(*corev1.Service)) Case
}

// Law names what a run has violated.
type Law string

// The laws.
const (
	NothingLost   Law = "nothing is lost"
	NothingOpened Law = "nothing is opened"
	Backends      Law = "backends follow"
	WholeDeletion Law = "deletion is whole"
	Settles       Law = "it settles as desired"
)

// Known is a violation that exists today. It matches runs of the law in which at least these
// steps were refused.
type Known struct {
	Law      Law
	From, To string // names of cases; empty: any
	// Refused lists the steps that are refused; empty: none is needed.
	Refused []Match
	Only    Circumstance // empty: any
	// Beside is a case of another Service that stays; empty: none is needed.
	Beside string
	// Neighbour is a step that another Service's run has performed; zero: none is needed.
	Neighbour Match
	// After is a step that the Service's own run has performed; zero: none is needed.
	After  Match
	Reason string
}

// Circumstance limits an exception to some of the runs in which its steps are refused.
type Circumstance string

// The circumstances.
const (
	WithoutAnswer Circumstance = "no answer has arrived"
	AfterRestart  Circumstance = "the process has ended during a plan"
	Unrestored    Circumstance = "no answer has arrived, or the process has ended during a plan"
)

// holds reports whether a scenario has the circumstance.
func (c Circumstance) holds(in Scenario) bool {
	switch c {
	case WithoutAnswer:
		return slices.ContainsFunc(in.Refuse, func(r Refusal) bool { return r.How == Lost })
	case AfterRestart:
		return in.Restart > 0
	case Unrestored:
		return WithoutAnswer.holds(in) || AfterRestart.holds(in)
	}
	return true
}

// Match selects steps by action and kind, and by part if one is given.
type Match struct {
	Action plan.Action
	Kind   stack.Kind
	Part   string
}
