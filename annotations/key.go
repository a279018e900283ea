package annotations

import "slices"

// A Key declares one annotation or label with the Go type of its value.
//
// The declaration is data: write it once as a pointer to a literal, hand it to
// NewSet, and do not change it afterwards. Two Keys may share a Name if no kind
// is named by both; that is how one key has different Go types per kind.
type Key[T any] struct {
	// Name is the full key. <PORT> or {port} stands for a Service port number and
	// <PROTOCOL> for a protocol name; a key with one of them is a per-port key
	// and is read with Port or PortProtocol.
	Name string
	// On is where the key stands. Only the two Service places are parsed from a
	// Service; the others are declared for the docs and for Read.
	On Place
	// Group is the heading under which the docs list the key.
	Group string
	// Aliases are deprecated spellings, strongest first. They count only if Name
	// is absent, and each use is a Warning.
	Aliases []string
	// EmptyHides makes an empty Name hide the Aliases, although the value counts as absent.
	EmptyHides bool
	// AnyCase matches the key text ignoring case.
	AnyCase bool
	// Protocols are the legal texts for <PROTOCOL>, in exact case.
	Protocols []string
	// OnDelete marks a key that is also read while a Service is being released.
	// The Fallback of its forms must be the value that destroys least.
	OnDelete bool
	// Writer is the writer of the key; the zero Writer is the user.
	Writer Writer
	// Exposes names the clients outside of the network that the key can admit. A value of
	// such a key that is not legal never opens a new load balancer.
	Exposes Exposure
	// Names says which things outside of the load balancer the value names, or that it names
	// nothing. Policies and the reference derive from it.
	Names Names
	// Secret values are never shown in problems or origins.
	Secret bool
	// Doc says in one sentence what the key does.
	Doc string
	// Example is a typical value, written as the user writes it.
	Example string
	// Forms say what the key means for which kinds; at least one.
	Forms []Form[T]
}

// A Form is what a key means for some kinds.
type Form[T any] struct {
	// Kinds are the load balancer kinds this form is for. None means every kind
	// that no other form of the key names.
	Kinds []string
	// Type reads and checks the text.
	Type Type[T]
	// Default is the value of a key that is absent (or ignored). It is shared:
	// readers must not change what it points to.
	Default T
	// DefaultDoc describes the default where the value alone would mislead. With Or, it
	// describes what counts where the configuration has no value either.
	DefaultDoc string
	// Or names the keys of the cloud configuration that are the default of an absent key,
	// strongest first, in the spelling of the configuration. Such a form declares Empty, and
	// is read with Key.Or.
	Or []string
	// Change is what a change of the value does to a live load balancer.
	Change Change
	// Removal is what removing the key does to a live load balancer.
	Removal Removal
	// Bad is what a value that is not legal does.
	Bad Bad
	// Fallback is the value that counts when Bad is UseFallback, and for
	// OnDelete keys whenever the value is bad during a release.
	Fallback T
	// Empty is the meaning of the empty text. EmptyParsed overrides what the configuration
	// has, as far as the type accepts the empty text.
	Empty Empty
	// Support reports whether this version acts on the key.
	Support Support
	// Needs are what the key has no effect without; each must hold.
	Needs []Need
	// Reason explains why a key is only accepted, or supported later.
	Reason string
	// Doc says what is particular about this form; may be empty.
	Doc string
	// Source names where the behaviour is documented.
	Source string
}

// Get returns the value for a key that is not per port: what the user said, or
// the default of the form for the bag's kind, or the zero value if the key means
// nothing for that kind.
func (k *Key[T]) Get(b *Bag) T {
	value, _, _ := k.Lookup(b)
	return value
}

// Lookup is Get with the origin and whether the user said it.
func (k *Key[T]) Lookup(b *Bag) (T, Origin, bool) {
	return k.lookup(b, instance{})
}

// Or returns the value of an annotation, and the one of the configuration if the annotation is
// absent or counts as absent. It is how keys whose form declares Or are read: an empty
// annotation overrides the configuration unless the form declares EmptyAbsent.
func (k *Key[T]) Or(b *Bag, configured T) T {
	if value, _, ok := k.Lookup(b); ok {
		return value
	}
	return configured
}

// Port returns the value of a <PORT> key for one Service port number.
func (k *Key[T]) Port(b *Bag, port int32) T {
	value, _, _ := k.LookupPort(b, port)
	return value
}

// LookupPort is Port with the origin and whether the user said it.
func (k *Key[T]) LookupPort(b *Bag, port int32) (T, Origin, bool) {
	return k.lookup(b, instance{port: port})
}

// PortProtocol returns the value of a <PROTOCOL>-<PORT> key.
func (k *Key[T]) PortProtocol(b *Bag, port int32, protocol string) T {
	value, _, _ := k.LookupPortProtocol(b, port, protocol)
	return value
}

// LookupPortProtocol is PortProtocol with the origin and whether the user said it.
func (k *Key[T]) LookupPortProtocol(b *Bag, port int32, protocol string) (T, Origin, bool) {
	return k.lookup(b, instance{port: port, protocol: protocol})
}

// A PortValue is one use of a per-port key.
type PortValue[T any] struct {
	Port     int32  // 0 if the key has no <PORT>
	Protocol string // empty if the key has no <PROTOCOL>
	Value    T
	Origin   Origin
}

// All returns every use of the key the user made, sorted by port and protocol.
// Checks use it to find uses that fit no listener.
func (k *Key[T]) All(b *Bag) []PortValue[T] {
	var out []PortValue[T]
	for _, at := range b.instances(k) {
		value, origin, ok := k.lookup(b, at)
		if ok {
			out = append(out, PortValue[T]{Port: at.port, Protocol: at.protocol, Value: value, Origin: origin})
		}
	}
	return out
}

// Default returns the default for a kind.
func (k *Key[T]) Default(kind string) T {
	var zero T
	if i := formFor(k.Forms, kind); i >= 0 {
		return k.Forms[i].Default
	}
	return zero
}

// Read parses the key from the annotations or labels of any object, without a
// Set: for keys on nodes and pods, and for the key that chooses the kind. An
// empty kind takes the first form. Per-port keys are not read this way.
func (k *Key[T]) Read(kind string, values map[string]string) (T, Origin, Problems) {
	run := &parsing{kind: kind, bag: newBag(kind)}
	d := k.declare()
	if i := d.form(kind); i >= 0 && !d.perPort() {
		run.read(d, &d.key.Forms[i], values)
	}
	value, origin, _ := k.Lookup(run.bag)
	return value, origin, run.problems.Sorted()
}

// Refusal is an Error about the key, with the spelling and the value the user
// wrote. The message is read after the value and legal is a noun phrase. Checks
// and builders use it for what the type alone cannot see.
func (k *Key[T]) Refusal(b *Bag, message, legal string) Problem {
	p := k.Warning(b, message, legal)
	p.Severity = Error
	return p
}

// Warning is Refusal with severity Warning.
func (k *Key[T]) Warning(b *Bag, message, legal string) Problem {
	_, origin, _ := k.Lookup(b)
	return Problem{
		Key:      orElse(origin.Key, k.Name),
		Value:    origin.Raw,
		Legal:    legal,
		Message:  message,
		Severity: Warning,
	}
}

func (k *Key[T]) lookup(b *Bag, at instance) (T, Origin, bool) {
	if e, ok := b.entry(k, at); ok {
		value, _ := e.value.(T)
		return value, e.origin, true
	}
	return k.Default(b.Kind()), Origin{Source: FromDefault}, false
}

// formFor returns the index of the form for a kind: the one that names it, else the one
// that names none, or -1. The empty kind means "no matter which": the first form.
func formFor[T any](forms []Form[T], kind string) int {
	rest := -1
	for i := range forms {
		switch kinds := forms[i].Kinds; {
		case kind == "" || slices.Contains(kinds, kind):
			return i
		case len(kinds) == 0 && rest < 0:
			rest = i
		}
	}
	return rest
}
