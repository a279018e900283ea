// Package gce is the Google Cloud simulator: Compute Engine, the metadata server
// and the token endpoint behind one URL, over HTTP and in the real wire format,
// good enough for the official controllers to run against it unmodified.
//
// It assembles; the rules live in the packages compute and identity. Every call
// passes one way: authentication, throttle, faults, the operation, the journal.
//
// Start with New, then Cloud.ServeHTTP; Seed is the world it begins with.
package gce
