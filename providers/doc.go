// Package providers holds the contract between the program and a cloud.
//
// A cloud is a table of functions, [Cloud]: most of them pure (scopes,
// facts, the desired stack, rules of comparison), two of them with I/O (a [Session]
// reads and applies). A provider acts in no other way: the loop, the command line and
// the tests all use the same table. Start at [Cloud].
package providers
