// Package arch holds the rules of this repository that a compiler does not check: allowed
// imports, the length of files, what pure code must not do, and what a file must not contain.
//
// A rule is a function from one parsed file to findings, with the reason beside it. The tests
// run every rule on every file, and on a piece of bad source in which it must find something,
// so that a rule that finds nothing fails too. An exception is listed in the table of its
// rule, with its reason. Nothing imports this package.
//
// Start with Rules in rules.go; the table of imports is in layout.go.
package arch
