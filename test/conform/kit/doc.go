// Package kit lets an official controller and Berth hand load balancers to each
// other: the official one builds, Berth takes over without a writing call, the
// official one comes back, and Berth deletes; or the official one is cut off
// halfway, and Berth finishes; or both run at once, each with Services of its own.
//
// It knows no cloud. What is peculiar to an official controller stands in the Suite
// that its own module, test/conform/<cloud>, describes, beside the Services in
// testdata, one folder per cloud configuration: services.yaml, and global.conf with
// what the configuration has besides.
//
// Start with Suite, then TakeOver and HalfBuilt.
package kit
