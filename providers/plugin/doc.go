// Package plugin makes Berth usable in another cloud-controller-manager, under the
// stock service controller: it is a cloudprovider.Interface over any provider of ours.
//
// The stock loop decides which Services are reconciled and when, and writes
// finalizer, addresses and its own events. The cloud is changed by the functions of our
// own loop. Warnings and conditions, which the stock loop does not have, are written by
// this package, with the rights of the stock loop. Only load balancers are provided.
//
// A program registers a cloud by a blank import of one of the packages below
// this one, or by [Register]. Start at balancers.go.
package plugin
