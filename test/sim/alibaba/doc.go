// Package alibaba simulates the part of Alibaba Cloud that Classic Load Balancers need, over HTTP:
// the SLB API 2014-05-15 with load balancers, listeners, server groups and tags.
//
// Calls are RPC calls with the signature HMAC-SHA1, which is verified. All objects are documents in
// one store. Every accepted write can make its load balancer busy for a while, and other calls
// about it are refused meanwhile.
//
// Start at [New].
package alibaba
