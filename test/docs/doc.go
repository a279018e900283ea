// Package docs tests the documentation: the generated reference pages match the code, every
// example does what its comment promises, and links resolve.
//
// With -update (`make docs`) the generated pages are written again. Nothing imports this
// package. Start with reference_test.go.
package docs
