// Package conform compares the requests and answers of the Baidu AI Cloud provider and its
// simulator with the clients and models of the vendor's SDK, bce-sdk-go. A call that no client
// makes, a parameter or key that the SDK lacks, a value of another type, and a missing key of a
// request fail the test, unless they are a listed gap with its source.
//
// The SDK is far larger than the provider, so it is a dependency of this module alone. Start at
// TestModels.
package conform
