// Package kit has the parts of providers that no SDK has: the order and the rate
// of calls, the progress of a call, the meaning of its error, waiting for the cloud,
// and the table of write calls.
//
// It is independent of clouds: a provider passes its documented rates, its error table
// and its functions. Start at [Limits], then [Verbs].
package kit
