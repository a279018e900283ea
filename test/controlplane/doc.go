// Package controlplane carries this module's own go.mod and go.sum inside the
// compiled command, so that the command can build the Kubernetes programs from
// any working directory and with exactly the versions it was compiled with.
//
// The module builds the real etcd, kube-apiserver and kube-controller-manager
// from their Go modules and runs them on the loopback interface for tests. It is
// a module of its own because those programs bring hundreds of requirements that
// the product must never see. For the same reason nothing here may import
// Kubernetes: the command compiles in a second and starts child processes.
//
// Start reading at cmd/controlplane, then binaries (what is built and where it is
// kept) and server (how it is started and stopped).
package controlplane
