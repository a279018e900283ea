// Package cases holds the common parts of every provider's pure tests: they read cases from
// testdata, build the input as the loop does, and write the results in a readable form.
//
// Whatever is specific to one cloud, such as the facts of a world or the form of its objects
// in reads, stays with that provider's tests.
//
// Start with Case and Input.
package cases
