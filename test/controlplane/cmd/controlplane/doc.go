// Command controlplane builds and runs a real Kubernetes control plane for tests:
// etcd, kube-apiserver and the EndpointSlice controller.
//
// It prints one line of JSON on standard output and everything meant for people on
// standard error. It holds no logic: see packages binaries and server. Start at
// main.go.
package main
