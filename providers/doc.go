// Package providers holds the contract between the program and a cloud.
//
// A cloud is a table of functions, [Cloud]: most of them pure (what may a
// Service own, what must be known, what is wanted, what differs), two of them
// doing I/O (a [Session] reads and applies). There is no other way for a
// provider to act: the loop, the command line and the tests all walk the same
// table. Start at [Cloud].
package providers
