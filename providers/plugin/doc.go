// Package plugin lets somebody else's cloud-controller-manager use Berth under
// the stock service controller: it is a cloudprovider.Interface over any
// provider of ours.
//
// The stock loop decides which Services are worked on and when, and writes
// finalizer, status and its own events; what happens in the cloud is what our
// own loop would do, by the same functions. Nothing but load balancers is
// provided. Start at [Register].
package plugin
