package view

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Standing is the state of a Service according to its conditions.
type Standing struct {
	Owner      stack.Owner        `json:"owner"`
	Addresses  []string           `json:"addresses,omitempty"`
	Ports      []string           `json:"ports"`
	Conditions []metav1.Condition `json:"conditions,omitempty"` // ours; none: this program does not serve it
	Balancers  []Branch           `json:"balancers,omitempty"`  // as the cloud says; of a Service that was examined
	Unseen     string             `json:"unseen,omitempty"`     // why not all of that is known
	Events     []string           `json:"events,omitempty"`     // the last ones, the newest first; of a Service that is named
	Untold     string             `json:"untold,omitempty"`     // why events are not shown
	Health     status.Health      `json:"health"`               // what the conditions come to
	Class      string             `json:"class,omitempty"`      // spec.loadBalancerClass
	Verdict    Verdict            `json:"verdict,omitempty"`    // what the conditions do not say
	Why        string             `json:"why,omitempty"`        // the verdict in words
}

// Verdict is what conditions alone do not say of a Service.
type Verdict string

// The verdicts. The zero value means that the conditions say all.
const (
	// LeftAlone means that the controller does not serve the Service.
	LeftAlone Verdict = "LeftAlone"
	// NotLookedAt means that a controller serves it, and none has reported yet.
	NotLookedAt Verdict = "NotLookedAt"
	// Changed means that the conditions are about an earlier configuration.
	Changed Verdict = "Changed"
	// NotFound means that the cloud has no load balancer of the Service.
	NotFound Verdict = "NotFound"
	// Differs means that the cloud differs from what the Service asks for.
	Differs Verdict = "Differs"
)

// Decide records a verdict and its text.
func (s *Standing) Decide(v Verdict, text string) { s.Verdict, s.Why = v, text }

// Condition finds a condition by its type; the zero value if it is missing.
func (s Standing) Condition(kind string) metav1.Condition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

// Settled reports whether the conditions say that the load balancer is as desired.
func (s Standing) Settled() bool {
	c := s.Condition(status.TypeProgrammed)
	return c.Type != "" && conditions.Settled(status.Condition{Status: c.Status, Reason: status.Reason(c.Reason)})
}

// Failing reports whether a Service is not as desired according to its conditions or a verdict.
func (s Standing) Failing() bool {
	return s.Verdict != "" && s.Verdict != LeftAlone || s.Verdict == "" && s.Health != status.Unreported && s.Health != status.Healthy
}

// Summarize returns what to show of a Service in one cell: the reason of a failure before
// warnings.
func (s Standing) Summarize() string {
	accepted, programmed := s.Condition(status.TypeAccepted), s.Condition(status.TypeProgrammed)
	failed := programmed.Status == metav1.ConditionFalse && programmed.Reason != string(status.ReasonNotAccepted)
	switch {
	case s.Verdict != "":
		return s.Why
	case s.Health == status.Unreported:
		return s.Unreported()
	case accepted.Message == "", failed && accepted.Status == metav1.ConditionTrue:
		return programmed.Message
	}
	return accepted.Message
}

// Unreported returns the text for a Service without conditions.
func (s Standing) Unreported() string {
	if s.Class == "" {
		return "no controller of this program has reported on the Service"
	}
	return fmt.Sprintf("no controller of this program has reported on the Service; its class is %q", s.Class)
}

// Member is the health of one member of a load balancer.
type Member = providers.MemberHealth

// Branch is one thing in the cloud on the way from a load balancer to its members.
type Branch struct {
	Key     stack.Key                `json:"key"`
	ID      string                   `json:"id,omitempty"`
	Label   string                   `json:"name"` // kind, and the name that people know it by
	Below   []Branch                 `json:"below,omitempty"`
	Members []providers.MemberHealth `json:"members,omitempty"`
}

// Take adds a member, below the part that it was asked for.
func (b *Branch) Take(h providers.MemberHealth) {
	if h.Part == "" {
		b.Members = append(b.Members, h)
		return
	}
	i := slices.IndexFunc(b.Below, func(part Branch) bool { return part.Key == b.Key && part.Label == h.Part })
	if i < 0 {
		i, b.Below = len(b.Below), append(b.Below, Branch{Key: b.Key, Label: h.Part})
	}
	b.Below[i].Members = append(b.Below[i].Members, h)
}

// AllMembers lists the members of a branch and of those below, each once.
func (b Branch) AllMembers() []providers.MemberHealth {
	out := slices.Clone(b.Members)
	for _, below := range b.Below {
		for _, m := range below.AllMembers() {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// Controller is what its Lease says of the controller.
type Controller struct {
	Lease   string       `json:"lease"`
	Holder  string       `json:"holder,omitempty"`
	Renewed *metav1.Time `json:"renewed,omitempty"`
	Absent  string       `json:"absent,omitempty"` // why no controller seems to run; empty: one does, or that is not known
}
