package wire

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// list is a security list with its version. Its rules are kept as they are: the whole
// list is written.
// Source: Core Services API reference, SecurityList.
type list struct {
	ID      string            `json:"id"`
	Created string            `json:"timeCreated"`
	Ingress []json.RawMessage `json:"ingressSecurityRules"`
	Egress  []json.RawMessage `json:"egressSecurityRules"`
	etag    string
}

// tcp is the number of the protocol.
const tcp = "6"

// rangeDoc is a range of ports.
type rangeDoc struct {
	Min int32 `json:"min"`
	Max int32 `json:"max"`
}

type tcpDoc struct {
	Destination *rangeDoc `json:"destinationPortRange,omitempty"`
	Source      *rangeDoc `json:"sourcePortRange,omitempty"`
}

// entryDoc is a rule of a security list.
type entryDoc struct {
	Protocol        string  `json:"protocol"`
	Stateless       bool    `json:"isStateless"`
	Description     string  `json:"description,omitempty"`
	Source          string  `json:"source,omitempty"`
	SourceType      string  `json:"sourceType,omitempty"`
	Destination     string  `json:"destination,omitempty"`
	DestinationType string  `json:"destinationType,omitempty"`
	TCP             *tcpDoc `json:"tcpOptions,omitempty"`
}

// peerRange is the type of a peer that is a range of addresses.
const peerRange = "CIDR_BLOCK"

// onePort is the only port that a rule is about; false: it is about more.
func (t *tcpDoc) onePort() (int32, bool) {
	if t == nil || t.Source != nil || t.Destination == nil || t.Destination.Min != t.Destination.Max {
		return 0, false
	}
	return t.Destination.Min, true
}

// described is a rule that a Service may want, with its description.
type described struct {
	model.Entry
	Description string
}

// read is a rule as a Service may want it; false: none does.
func (l list) read(direction string, raw json.RawMessage) (described, bool) {
	var d entryDoc
	if json.Unmarshal(raw, &d) != nil || d.Protocol != tcp || d.Stateless {
		return described{}, false
	}
	peer, kind := d.Source, d.SourceType
	if direction == model.Egress {
		peer, kind = d.Destination, d.DestinationType
	}
	port, ok := d.TCP.onePort()
	return described{model.Entry{List: l.ID, Direction: direction, Peer: peer, Port: port}, d.Description}, ok && (kind == "" || kind == peerRange)
}

// entries are the rules that Services may want.
func (l list) entries() []described {
	var out []described
	for direction, rules := range map[string][]json.RawMessage{model.Ingress: l.Ingress, model.Egress: l.Egress} {
		for _, raw := range rules {
			if e, ok := l.read(direction, raw); ok {
				out = append(out, e)
			}
		}
	}
	return out
}

// getList reads a security list.
func (s *Session) getList(ctx context.Context, id string) (list, error) {
	var l list
	began := s.lists.Begin(id)
	header, err := s.get(ctx, s.core, "/securityLists/"+id, &l)
	if err != nil {
		return l, err
	}
	l.ID, l.etag = id, header.Get(headerETag)
	s.lists.Listed(id, began, l)
	return l, nil
}

// listTries is how often a security list is read and written again after a conflicting
// change.
const listTries = 5

// applyEntries adds and removes rules of one security list, of all steps of a batch in
// one call. The cloud refuses it if the list has been changed since it was read.
func (s *Session) applyEntries(ctx context.Context, b plan.Batch, id string) []plan.Outcome {
	unlock, err := s.locks.Take(ctx, "security list "+id)
	if err != nil {
		return kit.Every(b, kit.Failed(&fault.Fault{Meaning: fault.Unavailable, Text: "stopped before it was sent", Err: err}))
	}
	defer unlock()
	l, known := s.lists.Get(id, 0)
	err = kit.Merge(listTries, func() error {
		var err error
		if !known {
			if l, err = s.getList(ctx, id); err != nil {
				return err
			}
		}
		known = false
		next, differs := l.merged(b)
		if !differs {
			return nil
		}
		return s.putList(ctx, next)
	})
	out := make([]plan.Outcome, 0, len(b.Steps))
	for _, step := range b.Steps {
		c := &change{Session: s, Ctx: ctx, Batch: b, Step: step}
		switch {
		case step.ID.Action == plan.Delete:
			out = append(out, kit.Deleted(err))
		case err != nil:
			out = append(out, kit.Failed(err))
		default:
			out = append(out, c.Created(step.Target.Key.String(), stack.Leftover, step.Target.Spec))
		}
	}
	return out
}

func (s *Session) putList(ctx context.Context, l list) error {
	body := map[string]any{"ingressSecurityRules": l.Ingress, "egressSecurityRules": l.Egress}
	var made list
	header, err := s.write(ctx, s.core, request{method: http.MethodPut, path: "/securityLists/" + l.ID, header: map[string]string{headerMatch: l.etag}, body: body}, &made)
	if err != nil {
		s.lists.Forget(l.ID)
		return err
	}
	made.ID, made.etag = l.ID, header.Get(headerETag)
	s.lists.Set(made.ID, made)
	return nil
}

// merged returns the list after a batch, and reports whether it differs. A rule due for
// deletion is retained if another Service has come to need it meanwhile.
func (l list) merged(b plan.Batch) (list, bool) {
	add, remove := map[model.Entry]bool{}, map[model.Entry]bool{}
	for _, step := range b.Steps {
		e, _ := step.Target.Spec.(model.Entry)
		switch {
		case step.ID.Action != plan.Delete:
			add[e] = true
		case b.Claims == nil || len(b.Claims.Others(step.ID.Owner, step.Target)) == 0:
			remove[e] = true
		}
	}
	differs := false
	keep := func(direction string, rules []json.RawMessage) []json.RawMessage {
		out := []json.RawMessage{}
		for _, raw := range rules {
			e, ok := l.read(direction, raw)
			if ok && remove[e.Entry] && !add[e.Entry] && e.Description == "" {
				differs = true
				continue
			}
			if ok {
				delete(add, e.Entry)
			}
			out = append(out, raw)
		}
		return out
	}
	out := list{ID: l.ID, etag: l.etag, Ingress: keep(model.Ingress, l.Ingress), Egress: keep(model.Egress, l.Egress)}
	for _, step := range b.Steps { // in the order of the batch
		e, _ := step.Target.Spec.(model.Entry)
		if !add[e] {
			continue
		}
		delete(add, e)
		differs = true
		raw, err := json.Marshal(entryBody(e))
		switch {
		case err != nil:
		case e.Direction == model.Ingress:
			out.Ingress = append(out.Ingress, raw)
		default:
			out.Egress = append(out.Egress, raw)
		}
	}
	return out, differs
}

func entryBody(e model.Entry) entryDoc {
	d := entryDoc{Protocol: tcp, TCP: &tcpDoc{Destination: &rangeDoc{e.Port, e.Port}}}
	if e.Direction == model.Ingress {
		d.Source, d.SourceType = e.Peer, peerRange
	} else {
		d.Destination, d.DestinationType = e.Peer, peerRange
	}
	return d
}
