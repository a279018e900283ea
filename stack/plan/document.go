package plan

import (
	"slices"

	"github.com/berth-lb/berth/stack"
)

// FormatVersion is the version of [Document]. It changes when a reader of the old form
// would misread the new one; an added field does not change it.
const FormatVersion = "1"

// Document is the public form of one or many plans. It holds plain JSON values
// only (nil, bool, string, json.Number, []any, map[string]any), no spec and no
// cloud type, so whatever shows a plan can work from its JSON alone.
//
// A reference to another resource of the plan is {"ref": "target-group/tcp-80"};
// with "unknown": true where that resource does not exist before the plan runs.
type Document struct {
	FormatVersion string `json:"formatVersion"`
	Provider      string `json:"provider"` // name of the cloud, for example "aws"
	Plans         []Doc  `json:"plans"`    // in owner order; never nil
	// Left are the Services that are left alone.
	Left []LeftDoc `json:"left,omitempty"`
}

// LeftDoc is a Service that is left alone.
type LeftDoc struct {
	Owner stack.Owner `json:"owner"`
	Why   string      `json:"why"` // read after the name of the Service
}

// Doc is the plan of one owner.
type Doc struct {
	Owner    stack.Owner `json:"owner,omitzero"` // absent: the cluster itself
	Steps    []StepDoc   `json:"steps"`          // in the order of the plan; never nil
	Held     []HeldDoc   `json:"held"`           // never nil
	Traffic  []PortDoc   `json:"traffic,omitempty"`
	Problems []Problem   `json:"problems,omitempty"`
	Summary  Summary     `json:"summary"`
}

// StepDoc is one step.
type StepDoc struct {
	ID          string        `json:"id"` // action, key and part; unique inside the plan
	Action      Action        `json:"action"`
	Part        string        `json:"part,omitempty"`
	Target      ResourceDoc   `json:"target"`
	With        []ResourceDoc `json:"with,omitempty"` // created in the same call
	Changes     []ChangeDoc   `json:"changes,omitempty"`
	Unchanged   int           `json:"unchanged,omitempty"` // fields of an updated or replaced resource that stay
	Reason      Reason        `json:"reason,omitempty"`
	Why         string        `json:"why,omitempty"`
	Replacement Replacement   `json:"replacement,omitempty"` // set on both halves, where both are in the same list
	Impact      Impact        `json:"impact,omitempty"`
	Gate        *GateDoc      `json:"gate,omitempty"`
	Needs       []NeedDoc     `json:"needs,omitempty"`
	Batch       string        `json:"batch,omitempty"`
}

// Replacement is the order of the two halves of a replacement.
type Replacement string

const (
	// NoReplacement marks a step that is no half of a replacement.
	NoReplacement Replacement = ""
	// DeleteFirst means that the old resource is deleted before the new one is created.
	DeleteFirst Replacement = "delete-first"
	// CreateFirst means that the new resource is created before the old one is deleted.
	CreateFirst Replacement = "create-first"
)

// ResourceDoc is a resource with its fields in the order of declaration.
type ResourceDoc struct {
	Key    stack.Key  `json:"key"`
	ID     string     `json:"id,omitempty"` // the cloud's identifier; empty while it does not exist
	Fields []FieldDoc `json:"fields,omitempty"`
}

// FieldDoc is one field and its value.
type FieldDoc struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// ChangeDoc is one field that a step writes. Added and Removed are set where
// the step changes members of a set and does not write the field as a whole.
type ChangeDoc struct {
	Field   string `json:"field"`
	From    any    `json:"from,omitempty"`
	To      any    `json:"to,omitempty"`
	Added   []any  `json:"added,omitempty"`
	Removed []any  `json:"removed,omitempty"`
	Forces  bool   `json:"forcesReplacement,omitempty"`
}

// GateDoc is an observation that a step waits for.
type GateDoc struct {
	After string `json:"after,omitempty"` // a duration such as "1m0s"; empty: at once
	Since string `json:"since,omitempty"` // what starts the clock, in words
}

// NeedDoc names a step that must be complete before.
type NeedDoc struct {
	Owner *stack.Owner `json:"owner,omitempty"` // absent: the owner of the plan
	Step  string       `json:"step"`            // the ID of that step
}

// HeldDoc is a step that may not run now.
type HeldDoc struct {
	Step  StepDoc `json:"step"`
	By    string  `json:"by"`
	Needs string  `json:"needs,omitempty"` // the ID of the step that it is held with
	Why   string  `json:"why,omitempty"`
}

// Severity is the effect of a problem on the plan.
type Severity string

const (
	// Warning is information for the user; the plan is valid.
	Warning Severity = "warning"
	// Error means that there is no plan, or only a part of it.
	Error Severity = "error"
)

// Problem is a fault in the user's request or in a read: a misspelt annotation, a cloud
// that did not answer.
type Problem struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code,omitempty"`  // permanent name of the kind of problem
	Where    string   `json:"where,omitempty"` // an annotation, a field; empty: the whole
	Text     string   `json:"text"`
}

// Remark is what a document says of one owner besides the steps of its plan.
type Remark struct {
	Owner    stack.Owner
	Problems []Problem // added to those of the plan
	// Traffic is what the plan does to ports. A plan without steps changes nothing, and says
	// nothing.
	Traffic []PortDoc
}

// WithRemarks returns a copy of the document with the remarks. An owner with problems and without
// a plan gets an empty one, so that a Service without a plan is still shown.
func (d Document) WithRemarks(remarks ...Remark) Document {
	d.Plans = slices.Clone(d.Plans)
	places := make(map[stack.Owner]int, len(d.Plans))
	for i, p := range slices.Backward(d.Plans) {
		places[p.Owner] = i
	}
	for _, r := range remarks {
		i, planned := places[r.Owner]
		if !planned && len(r.Problems) == 0 {
			continue
		}
		if !planned {
			i = len(d.Plans)
			places[r.Owner] = i
			d.Plans = append(d.Plans, Doc{Owner: r.Owner, Steps: []StepDoc{}, Held: []HeldDoc{}})
		}
		p := &d.Plans[i]
		if len(r.Problems) > 0 {
			p.Problems = slices.Concat(p.Problems, r.Problems)
		}
		if len(r.Traffic) > 0 && len(p.Steps)+len(p.Held) > 0 {
			p.Traffic = r.Traffic
		}
	}
	d.sort()
	return d
}

// Summary adds up the summaries of all plans.
func (d Document) Summary() Summary {
	var total Summary
	for _, p := range d.Plans {
		total = total.Plus(p.Summary)
	}
	return total
}

func (d Document) sort() {
	slices.SortStableFunc(d.Plans, func(a, b Doc) int { return a.Owner.Compare(b.Owner) })
}
