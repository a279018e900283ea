// Package network holds what the load balancer simulators may know of the VPC
// world, and what they tell it in return. It breaks the circle between them:
// the EC2 simulator owns networks and serves a Directory, the ELB simulators
// own load balancers and answer as Users.
//
// It holds values and two interfaces only; no state, no rules, no I/O.
//
// Start with Directory.
package network
