package annotations

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// Thing is a kind of resource or object that a key can name; one word for all clouds, so that
// one policy file can be read without knowing which cloud it is for.
type Thing string

// All things that Services can name.
const (
	ThingAddress       Thing = "address"        // a static address, by name, id or number
	ThingAddressPrefix Thing = "address-prefix" // the source of an address
	ThingBucket        Thing = "bucket"
	ThingCertificate   Thing = "certificate"
	ThingConfigMap     Thing = "config-map" // of Kubernetes, in the Service's namespace
	ThingSection       Thing = "configuration-section"
	ThingDNSLabel      Thing = "dns-label"
	ThingFlavor        Thing = "flavor" // the size of a load balancer
	ThingHostname      Thing = "hostname"
	ThingLink          Thing = "link" // a private link service
	ThingLoadBalancer  Thing = "load-balancer"
	ThingNetwork       Thing = "network"
	ThingPrefixList    Thing = "prefix-list"
	ThingResourceGroup Thing = "resource-group"
	ThingSecurityGroup Thing = "security-group"
	ThingAccount       Thing = "service-account" // of Kubernetes, in the Service's namespace
	ThingSubnet        Thing = "subnet"
	ThingSubscription  Thing = "subscription" // an account whose clients are admitted
	ThingTargetGroup   Thing = "target-group"
	ThingZone          Thing = "zone"
)

// Things lists all of them, by name.
func Things() []Thing {
	return []Thing{ThingAddress, ThingAddressPrefix, ThingBucket, ThingCertificate, ThingConfigMap, ThingSection, ThingDNSLabel, ThingFlavor, ThingHostname, ThingLink,
		ThingLoadBalancer, ThingNetwork, ThingPrefixList, ThingResourceGroup, ThingSecurityGroup, ThingAccount, ThingSubnet, ThingSubscription, ThingTargetGroup, ThingZone}
}

// Names declares which things outside of the Service's own load balancer the value of a key
// names. The zero Names is silent; only keys with numbers and fixed words may be.
type Names struct {
	nothing bool
	thing   Thing
	entries map[string]Thing
	list    func(value any) []string
}

// NamesNothing declares that no value of the key names anything.
func NamesNothing() Names { return Names{nothing: true} }

// NamesThe declares that the value, or each item of a list, names a thing.
func NamesThe(thing Thing) Names { return Names{thing: thing} }

// NamesInside declares which entries of a map name a thing. Other entries name nothing.
func NamesInside(entries map[string]Thing) Names { return Names{entries: entries} }

// NamesBy declares that a value names a thing by the texts that a function extracts.
func NamesBy[T any](thing Thing, list func(T) []string) Names {
	return Names{thing: thing, list: func(value any) []string {
		typed, _ := value.(T)
		return list(typed)
	}}
}

// Naming declares the things that a new key names. It is part of the declaration: the key must
// not be in a Set yet.
func Naming[T any](k *Key[T], names Names) *Key[T] {
	k.Names = names
	return k
}

// A Named is one thing that a Service names.
type Named struct {
	Thing Thing
	Key   string // as the user wrote it
	Value string // one name, id or address
	// Reported says that the controller writes such a key as well, so that the thing may be
	// the Service's own.
	Reported bool
}

// Named lists the things that the values of the bag name, by thing and key, in the order of each value.
func (b *Bag) Named() []Named {
	if b == nil {
		return nil
	}
	var out []Named
	for _, uses := range b.values {
		for _, e := range uses {
			for _, n := range e.names.of(e.value) {
				n.Key, n.Reported = e.origin.Key, e.reported
				out = append(out, n)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y Named) int { return cmp.Or(cmp.Compare(x.Thing, y.Thing), cmp.Compare(x.Key, y.Key)) })
	return out
}

// of lists the things that a value names.
func (n Names) of(value any) []Named {
	var out []Named
	add := func(thing Thing, text string) {
		if text != "" {
			out = append(out, Named{Thing: thing, Value: text})
		}
	}
	switch {
	case n.entries != nil:
		entries, _ := value.(map[string]string)
		for _, key := range sortedKeys(n.entries) {
			add(n.entries[key], entries[key])
		}
	case n.list != nil:
		for _, text := range n.list(value) {
			add(n.thing, text)
		}
	case n.thing != "":
		for _, text := range textsOf(value) {
			add(n.thing, text)
		}
	}
	return out
}

// textsOf returns a value as text, and a list item by item.
func textsOf(value any) []string {
	list := reflect.ValueOf(value)
	if list.Kind() != reflect.Slice {
		return []string{fmt.Sprint(value)}
	}
	var out []string
	for i := range list.Len() {
		out = append(out, fmt.Sprint(list.Index(i).Interface()))
	}
	return out
}

// described lists what a key names, for tools: things, entries with their things, or
// "nothing". It is empty if the declaration is silent.
func (d *declaration) described() []string {
	var out []string
	for _, entry := range sortedKeys(d.key.Names.entries) {
		out = append(out, entry+": "+string(d.key.Names.entries[entry]))
	}
	switch {
	case d.key.Names.thing != "":
		out = append(out, string(d.key.Names.thing))
	case len(out) == 0 && (d.key.Names.nothing || d.fixed()):
		out = append(out, "nothing")
	}
	return out
}

// fixed reports whether values of the key are numbers and words that the type lists.
func (d *declaration) fixed() bool {
	return !slices.ContainsFunc(d.key.Forms, func(f Form[any]) bool {
		return len(f.Type.facts.values) == 0 && !slices.Contains([]string{"bool", "presence", "int", "port", "port list", "must be absent"}, f.Type.facts.name)
	})
}
