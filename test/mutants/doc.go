// Command mutants measures how many small faults the tests find.
//
// Each entry of mutants.yaml is a mutant: a place in the product and what is wrong there. All
// of them are compiled at once into copies of the files, which the compiler reads in place of
// the files (go test -overlay); an environment variable switches one on. So the product has no
// hooks, and a mutant costs one run of the test that finds it.
//
// Start with main. With -find it looks for the test that finds a mutant, among all tests of the
// packages that are closest.
package main
