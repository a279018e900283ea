package iam

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Ask is what a request wants to do to one resource.
type Ask struct {
	Action, Resource string
	// Keys are the condition keys present in the request, such as aws:RequestTag/team or
	// ec2:CreateAction.
	Keys map[string]string
}

// Policy is one policy document.
type Policy struct{ statements []statement }

type statement struct {
	Sid       string
	Effect    string
	Action    texts
	NotAction texts
	Resource  texts
	Condition map[string]map[string]texts
}

// texts is one text or a list, as IAM has it everywhere.
type texts []string

func (t *texts) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(t))
	}
	one := ""
	err := json.Unmarshal(data, &one)
	*t = texts{one}
	return err
}

// Parse reads a document. What this package cannot decide by is an error.
func Parse(document []byte) (*Policy, error) {
	var doc struct {
		Version, ID string
		Statement   []statement
	}
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	for _, s := range doc.Statement {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("policy: statement %s: %w", s.Sid, err)
		}
	}
	return &Policy{statements: doc.Statement}, nil
}

func (s statement) check() error {
	switch {
	case s.Effect != "Allow" && s.Effect != "Deny":
		return fmt.Errorf("effect %q: want Allow or Deny", s.Effect)
	case (len(s.Action) == 0) == (len(s.NotAction) == 0):
		return errors.New("want Action or NotAction")
	case len(s.Resource) == 0:
		return errors.New("want Resource")
	}
	for operator := range s.Condition {
		if _, known := conditionOperators()[baseOperator(operator)]; !known {
			return fmt.Errorf("condition operator %s: not known", operator)
		}
	}
	return nil
}

// Allows reports whether a statement allows and none denies.
func (p *Policy) Allows(a Ask) bool {
	allowed := false
	for _, s := range p.statements {
		if !s.covers(a) {
			continue
		}
		if s.Effect == "Deny" {
			return false
		}
		allowed = true
	}
	return allowed
}

// Without is the policy without an action, for tests of what is missing then.
func (p *Policy) Without(action string) *Policy {
	out := &Policy{}
	for _, s := range p.statements {
		s.Action = slices.DeleteFunc(slices.Clone(s.Action), func(a string) bool { return a == action })
		if len(s.Action) > 0 {
			out.statements = append(out.statements, s)
		}
	}
	return out
}

// Actions lists what the statements that allow name.
func (p *Policy) Actions() []string {
	var out []string
	for _, s := range p.statements {
		if s.Effect == "Allow" {
			out = append(out, s.Action...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s statement) covers(a Ask) bool {
	action := func(pattern string) bool { return matchWildcard(strings.ToLower(pattern), strings.ToLower(a.Action)) }
	if len(s.NotAction) > 0 == slices.ContainsFunc(append(slices.Clone(s.Action), s.NotAction...), action) {
		return false
	}
	if !slices.ContainsFunc(s.Resource, func(pattern string) bool { return matchWildcard(pattern, a.Resource) }) {
		return false
	}
	for operator, keys := range s.Condition {
		for key, want := range keys {
			if !conditionHolds(operator, want, key, a.Keys) {
				return false
			}
		}
	}
	return true
}

const ifExists = "IfExists"

func baseOperator(operator string) string { return strings.TrimSuffix(operator, ifExists) }

// conditionOperators returns the functions that report whether a value matches a wanted one.
func conditionOperators() map[string]func(want, got string) bool {
	equal := func(want, got string) bool { return want == got }
	return map[string]func(want, got string) bool{
		"StringEquals": equal, "StringNotEquals": equal, "StringEqualsIgnoreCase": strings.EqualFold,
		"StringLike": matchWildcard, "StringNotLike": matchWildcard, "ArnEquals": matchWildcard, "ArnLike": matchWildcard, "Null": equal,
	}
}

// conditionHolds evaluates one line of a condition. One of the listed values must
// match; with a negated operator none may. A missing key matches only a negated
// operator.
func conditionHolds(operator string, want texts, key string, keys map[string]string) bool {
	got, there := findKey(keys, key)
	if operator == "Null" {
		return slices.Contains(want, map[bool]string{true: "false", false: "true"}[there])
	}
	negated := strings.Contains(operator, "Not")
	if !there {
		return negated || strings.HasSuffix(operator, ifExists)
	}
	fits := conditionOperators()[baseOperator(operator)]
	return slices.ContainsFunc(want, func(w string) bool { return fits(w, got) }) != negated
}

// findKey finds a key: its name is compared without letter case, but the name of a tag
// after the slash is case-sensitive.
func findKey(keys map[string]string, key string) (string, bool) {
	name, tag, _ := strings.Cut(key, "/")
	for k, v := range keys {
		n, t, _ := strings.Cut(k, "/")
		if strings.EqualFold(n, name) && t == tag {
			return v, true
		}
	}
	return "", false
}

// matchWildcard matches a text with * for any and ? for one character.
func matchWildcard(pattern, text string) bool {
	for pattern != "" {
		switch {
		case pattern[0] == '*':
			for rest := 0; rest <= len(text); rest++ {
				if matchWildcard(pattern[1:], text[rest:]) {
					return true
				}
			}
			return false
		case text == "" || (pattern[0] != '?' && pattern[0] != text[0]):
			return false
		}
		pattern, text = pattern[1:], text[1:]
	}
	return text == ""
}
