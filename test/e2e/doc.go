// Package e2e holds the tests of the whole: the controller as a process of its
// own, a real API server, and a cloud simulator over HTTP.
//
// Each test has a simulator, Nodes and controllers of its own; the control
// plane is shared, so the tests run one after another. What is the same in every
// cloud is in places_test.go, and runs in the clouds at the same time, each with a
// control plane of its own. The tests look at the cloud through its official SDK
// and at Services through the API server, never into the controller. The package
// must not contain anything that is not a test.
//
// Start with world_test.go, what a test has at hand, then cloud_test.go and the
// *_view_test.go, how it sees the clouds.
package e2e
