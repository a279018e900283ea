// Package docs tests what people read: the generated reference pages are what
// the code says, every example does what its comment promises, and links lead
// somewhere.
//
// With -update (`make docs`) the generated pages are written anew. Nothing
// imports this package. Start with reference_test.go.
package docs
