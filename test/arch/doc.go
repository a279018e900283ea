// Package arch holds the rules of this repository that a compiler does not
// check: who may import whom, how long a file may be, what pure code must not
// do, what must not stand in a file at all.
//
// A rule is a function from one parsed file to findings, with the reason beside
// it. The tests run every rule on every file, and on a piece of bad source that
// it must find, so that a rule which has gone blind fails too. Whoever needs an
// exception writes it into the table of the rule, with its reason. Nothing
// imports this package.
//
// Start with Rules in rules.go; the table of imports is in layout.go.
package arch
