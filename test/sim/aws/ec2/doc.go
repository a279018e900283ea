// Package ec2 is the EC2 part of the AWS simulator: networks, security groups
// and their rules, instances with their interfaces, addresses, route tables and
// tags, with the errors of the real service.
//
// It must not know the load balancer simulators; it serves them a
// network.Directory and asks them through network.Users.
//
// Every object is a value that is replaced, never changed in place. So a copy
// of the maps is a frozen state, and answers need no lock while they are encoded.
//
// Start with API, then world.go for the objects and operations.go for the calls.
package ec2
