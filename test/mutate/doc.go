// Package mutate lets every plain run of the tests fuzz for a moment.
//
// `go test -fuzz` recompiles every package that the test imports, which takes minutes for
// clients of clouds. Here a fuzz test also tries each of its seeds with random changes, a
// fixed number of times on any machine; `make fuzz` continues from there.
//
// Start with Add.
package mutate
