package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Digest returns a hash of the step's owner and of everything that it writes: equal for
// equal steps, in every process, and different after any change.
func (s Step) Digest() string {
	type change struct {
		Field   string `json:"Field"`
		To      any    `json:"To"`
		Added   []any  `json:"Added"`
		Removed []any  `json:"Removed"`
	}
	content := struct {
		Owner   string   `json:"Owner"`
		Key     string   `json:"Key"`
		Action  string   `json:"Action"`
		Part    string   `json:"Part"`
		Spec    any      `json:"Spec"`
		With    []any    `json:"With"`
		Changes []change `json:"Changes"`
	}{Owner: s.ID.Owner.UID, Key: s.ID.Key.String(), Action: string(s.ID.Action), Part: s.ID.Part, Spec: s.Target.Spec}
	for _, w := range s.With {
		content.With = append(content.With, w.Key.String(), w.Spec)
	}
	for _, c := range s.Changes {
		content.Changes = append(content.Changes, change{c.Field, c.To, c.Added, c.Removed})
	}
	text, err := json.Marshal(content)
	if err != nil { // a spec that JSON does not have
		text = fmt.Appendf(nil, "%+v", content)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Token returns an idempotency token for the step's call: a UUID that is the same for the
// same owner and content, so that a cloud performs a repeated call once, also after a
// restart.
// Source: RFC 9562, section 5.8 (version 8).
func (b Batch) Token(s Step) string {
	raw := []byte(s.Digest()[:32])
	raw[12] = '8' // the version
	raw[16] = "89ab"[raw[16]%4]
	return fmt.Sprintf("%s-%s-%s-%s-%s", raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:])
}
