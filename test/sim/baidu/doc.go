// Package baidu simulates the part of Baidu AI Cloud that load balancers need, over HTTP: application and
// normal load balancers (BLB) with listeners, groups and policies, and public addresses (EIP).
//
// Calls are signed with bce-auth-v1, which is verified. A load balancer takes one change at a time, and
// refuses others while it is updating. All objects are documents in one store.
//
// Start at [New].
package baidu
