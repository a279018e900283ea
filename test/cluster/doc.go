// Package cluster gives tests, the demo and the benchmark a real Kubernetes API
// server: etcd, kube-apiserver and the EndpointSlice controller, started on the
// loopback interface by the command of test/controlplane.
//
// The first use on a machine compiles those programs, which takes minutes, and
// keeps them in the user's cache; later a start takes about three seconds. The
// processes end with the process that started them, however it ends.
//
// A test package shares one control plane among its tests:
//
//	var plane cluster.Shared
//
//	func TestMain(m *testing.M) { plane.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		c := plane.Cluster(t)
//		namespace := c.Namespace(t)
//		...
//	}
//
// No kubelet and no other controller runs: Nodes have the status they are given,
// and Pods do not run. The package must not know any cloud nor the code under test.
// Start reading at Start; programs without a testing.TB use Start and Until.
package cluster
