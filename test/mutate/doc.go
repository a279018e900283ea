// Package mutate lets every plain run of the tests fuzz for a moment.
//
// `go test -fuzz` compiles all that a package imports anew, which takes minutes for
// clients of clouds. Here a fuzz test tries each of its seeds changed at random as well,
// so many times whatever the machine can do; `make fuzz` goes on from there.
//
// Start with Add.
package mutate
