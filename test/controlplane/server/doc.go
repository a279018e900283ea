// Package server runs one control plane: etcd, kube-apiserver and, unless it is
// not wanted, the EndpointSlice controller of kube-controller-manager.
//
//	kube-controller-manager --> kube-apiserver --> etcd
//	                            127.0.0.1:port     unix sockets in the data folder
//
// Everything stays on the loopback interface. The data lives in a temporary
// folder that Stop removes; logs, kubeconfigs and the audit log are written to the
// folder the caller names and stay there. It must not build anything (package
// binaries does) and must not import Kubernetes. Start at Start.
package server
