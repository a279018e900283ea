// Package meter counts requests over HTTP, for clouds whose clients use plain REST.
//
// It wraps the innermost transport, so that repetitions count, including the ones of
// net/http itself. It depends on no cloud: the provider supplies names and codes.
// Start at [New].
package meter
