package annotations

import (
	"cmp"
	"slices"
)

// A Bag holds the values of one Service. It is read through the Keys; a nil Bag
// gives defaults.
type Bag struct {
	kind     string
	fields   map[string]string // Source.Fields
	settings map[string]string // by the names of Setting
	values   map[Declaration]map[instance]entry
	refused  map[Declaration]bool
	doubts   []Origin
	// unlimited are limits of the clients that have no effect.
	unlimited []Origin
}

// instance tells the uses of a per-port key apart; other keys use the zero one.
type instance struct {
	port     int32
	protocol string
}

type entry struct {
	value    any
	origin   Origin
	names    Names
	reported bool // the controller writes the key as well
}

func newBag(kind string) *Bag {
	return &Bag{
		kind:    kind,
		values:  map[Declaration]map[instance]entry{},
		refused: map[Declaration]bool{},
	}
}

// Kind is the load balancer kind the bag was parsed for.
func (b *Bag) Kind() string {
	if b == nil {
		return ""
	}
	return b.kind
}

// Field returns a field of the Service, by a path of [Source.Fields]; empty: it has no value, or
// the fields are not known.
func (b *Bag) Field(path string) string {
	if b == nil {
		return ""
	}
	return b.fields[path]
}

// Setting returns a value of the configuration, by its name in [Setting]; empty: it has none, or the
// configuration is not known.
func (b *Bag) Setting(name string) string {
	if b == nil {
		return ""
	}
	return b.settings[name]
}

// Refused reports whether one of the keys had a value that was an Error. Checks
// across keys use it to stay silent about a value that is only a stand-in.
func (b *Bag) Refused(keys ...Declaration) bool {
	if b == nil {
		return false
	}
	return slices.ContainsFunc(keys, func(k Declaration) bool { return b.refused[k] })
}

// Doubts lists the keys that decide whether the internet is admitted and whose value is not
// legal: it is ignored or replaced by another one, and may have asked for an internal load
// balancer.
func (b *Bag) Doubts() []Origin {
	if b == nil {
		return nil
	}
	return slices.Clone(b.doubts)
}

// Unlimited lists the keys that limit the clients and whose value is not legal: it is ignored or
// replaced by another one.
func (b *Bag) Unlimited() []Origin {
	if b == nil {
		return nil
	}
	return slices.Clone(b.unlimited)
}

// Origins lists the origin of each value of the user, sorted by key.
func (b *Bag) Origins() []Origin {
	if b == nil {
		return nil
	}
	var out []Origin
	for _, uses := range b.values {
		for _, e := range uses {
			out = append(out, e.origin)
		}
	}
	slices.SortFunc(out, func(x, y Origin) int {
		return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(x.Source, y.Source))
	})
	return out
}

func (b *Bag) entry(k Declaration, at instance) (entry, bool) {
	if b == nil {
		return entry{}, false
	}
	e, ok := b.values[k][at]
	return e, ok
}

func (b *Bag) put(k Declaration, at instance, e entry) {
	if b.values[k] == nil {
		b.values[k] = map[instance]entry{}
	}
	b.values[k][at] = e
}

func (b *Bag) instances(k Declaration) []instance {
	if b == nil {
		return nil
	}
	var out []instance
	for at := range b.values[k] {
		out = append(out, at)
	}
	slices.SortFunc(out, func(x, y instance) int {
		return cmp.Or(cmp.Compare(x.port, y.port), cmp.Compare(x.protocol, y.protocol))
	})
	return out
}
