// Package cases is what the pure tests of every provider do alike: they read
// cases from testdata, make the input that the loop would make, and write what came
// of it for people.
//
// What only one cloud has, such as the facts of a world or how its objects look
// when found, stays with that provider's tests.
//
// Start with Case and Input.
package cases
