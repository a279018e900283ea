// Package kit is what every provider does and no SDK knows: the order and the rate
// of calls, how far a call came, what its error means, waiting for the cloud, and
// the table of writing calls.
//
// It knows no cloud: a provider hands in its documented rates, its error table and
// its functions. Start at [Limits], then [Verbs].
package kit
