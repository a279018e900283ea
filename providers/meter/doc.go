// Package meter counts the requests that go over HTTP, for clouds whose clients
// speak plain REST.
//
// It sits as close to the wire as it can, so that repetitions count, those that
// net/http makes by itself included. It knows no cloud: names and codes come
// from the provider. Start at [New].
package meter
