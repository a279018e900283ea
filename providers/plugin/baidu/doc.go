// Package baidu registers Berth for Baidu AI Cloud with k8s.io/cloud-provider, as the providers
// of others do: a cloud-controller-manager needs a blank import and nothing else.
//
// The import runs an init function, which is what the registry of Kubernetes asks
// for. It must therefore be imported by programs alone, and not by one that also
// imports another provider of the name "baidu": the second registration ends the
// process. Options come from the environment; a program that sets them in code, or
// chooses at run time, calls plugin.Register instead of importing this package.
package baidu
