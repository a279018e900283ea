// Package inputs watches what a load balancer follows from besides its Service: the
// EndpointSlices, the Pods behind them, and the labels of namespaces. Our own loop and
// the plugin look at the same things through it and differ only in what they enqueue.
//
// Start with [WatchEndpoints].
package inputs
