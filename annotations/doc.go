// Package annotations is the language in which a provider declares every
// annotation and label it reads, once per key.
//
// A declaration is a Key[T]: its text, the Go type of its value and, per load
// balancer kind, a Form with the accepted values, the default, what a change
// does to a live load balancer and what a bad value does. From the declarations
// of one provider, a Set, follow the parser, the validator, the hints for
// undeclared keys, the reference page and the JSON list.
//
// Set.Parse reads a whole Service at once and reports every problem it has. The
// Bag it returns hands out typed values through Key.Get and its sisters, which
// cannot fail: invalid values have been reported, and the default replaces them.
//
// The package is pure: no clients, no clock, no logging, no I/O. It knows
// Services as data and no cloud at all.
//
// Start with Key and Form in key.go, then Set.Parse in parse.go. The types of
// values are in type*.go; example_test.go holds a small set.
package annotations
