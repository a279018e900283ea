// Package azure is the Azure simulator: Resource Manager with the network and
// compute providers, Entra ID's token endpoint and the instance metadata service
// behind one address, over HTTP and HTTPS, in the real wire format.
//
// It assembles; the rules live in arm, network and compute. Every call passes
// one way: authentication, throttle, faults, the operation, the journal.
//
// Start with New, then Cloud.ServeHTTP; Seed is the world it begins with.
package azure
