// Package plugin lets somebody else's cloud-controller-manager use Berth under
// the stock service controller: it is a cloudprovider.Interface over any
// provider of ours.
//
// The stock loop decides which Services are worked on and when, and writes
// finalizer, addresses and its own events. What happens in the cloud is what our
// own loop would do, by the same functions. What the stock loop has no words for,
// such as warnings and conditions, is written from here, with the rights that
// the stock loop has. Nothing but load balancers is provided.
//
// A program registers a cloud by a blank import of one of the packages below
// this one, or by [Register]. Start at balancers.go.
package plugin
