// Package kit hands load balancers over between an official controller and Berth: the
// official one builds, Berth takes over without a writing call, the official one takes them
// back, and Berth deletes; or the official one is cut off halfway, and Berth finishes; or
// both run at once, each with Services of its own.
//
// It depends on no cloud. The specifics of an official controller are in the Suite that its
// own module, test/conform/<cloud>, describes, beside the Services in testdata, one folder
// per cloud configuration: services.yaml, and global.conf with the other settings of the
// configuration.
//
// Start with Suite, then TakeOver and HalfBuilt.
package kit
