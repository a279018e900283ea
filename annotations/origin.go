package annotations

// From tells what kind of place a value was read from.
type From string

// The places a value can come from, strongest first as a rule of thumb; each
// provider's build decides the actual precedence.
const (
	FromAnnotation From = "annotation" // an annotation of the object itself
	FromLabel      From = "label"      // a label of the object itself
	FromField      From = "field"      // a field of the Service spec
	FromConfig     From = "config"     // the provider's configuration file or a flag
	FromClass      From = "class"      // the load balancer class
	FromDefault    From = "default"    // not set by the user or the operator
)

// Origin is the source of a value, which answers why it is in effect.
type Origin struct {
	Source From   `json:"source"`
	Key    string `json:"key,omitempty"` // annotation key, field path or setting name
	Raw    string `json:"raw,omitempty"` // the text as it was written; empty for secret keys
}

// String renders the origin for people, for example
// `annotation example.com/idle-timeout "60"`.
func (o Origin) String() string {
	text := string(o.Source)
	if text == "" {
		text = string(FromDefault)
	}
	if o.Key != "" {
		text += " " + o.Key
	}
	if o.Raw != "" {
		text += " " + quoteValue(o.Raw)
	}
	return text
}
