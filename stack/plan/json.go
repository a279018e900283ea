package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Errors of [Decode].
var (
	// ErrFormatVersion means that this program does not read the version of the document.
	ErrFormatVersion = errors.New("unsupported format version")
	// ErrAction means that a step has an unknown action.
	ErrAction = errors.New("unknown action")
	// ErrTrailing means that there is data after the document.
	ErrTrailing = errors.New("data after the document")
)

// Encode writes a document as indented JSON with a newline at the end. Equal
// documents give equal bytes. It fails only on a document that is not from [NewDocument] or
// [Decode] and has values that JSON cannot represent.
func Encode(doc Document) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false) // the document is read by people, not put into a page
	if err := enc.Encode(doc.normal()); err != nil {
		return nil, fmt.Errorf("plan document: %w", err)
	}
	return out.Bytes(), nil
}

// Decode reads what [Encode] wrote. Unknown members are ignored, so that an
// older program reads the documents of a newer one with the same version.
func Decode(data []byte) (Document, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var doc Document
	if err := dec.Decode(&doc); err != nil {
		return Document{}, fmt.Errorf("plan document: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Document{}, fmt.Errorf("plan document: %w", ErrTrailing)
	}
	if doc.FormatVersion != FormatVersion {
		return Document{}, fmt.Errorf("plan document: %w %q, this program reads %q", ErrFormatVersion, doc.FormatVersion, FormatVersion)
	}
	if err := doc.check(); err != nil {
		return Document{}, fmt.Errorf("plan document: %w", err)
	}
	return doc.normal(), nil
}

func (d Document) check() error {
	for _, p := range d.Plans {
		for _, s := range p.Steps {
			if err := s.check(); err != nil {
				return fmt.Errorf("owner %s: %w", p.Owner, err)
			}
		}
		for _, h := range p.Held {
			if err := h.Step.check(); err != nil {
				return fmt.Errorf("owner %s: held: %w", p.Owner, err)
			}
		}
	}
	return nil
}

func (s StepDoc) check() error {
	switch s.Action {
	case Create, Update, Delete, Forget:
		return nil
	default:
		return fmt.Errorf("step %q: %w %q", s.ID, ErrAction, s.Action)
	}
}

// normal replaces null by an empty list in lists that are always written, so that readers
// need no check.
func (d Document) normal() Document {
	plans := make([]Doc, 0, len(d.Plans))
	for _, p := range d.Plans {
		if p.Steps == nil {
			p.Steps = []StepDoc{}
		}
		if p.Held == nil {
			p.Held = []HeldDoc{}
		}
		plans = append(plans, p)
	}
	d.Plans = plans
	return d
}
