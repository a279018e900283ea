// Package conform compares the requests and answers of the IBM Cloud provider and its simulator
// with the models of the vendor's SDK, vpc-go-sdk. A key that the models lack, and a required
// one that is missing, fails the test unless it is a listed gap with its source.
//
// The SDK is far larger than the provider, so it is a dependency of this module alone. Start at
// TestModels.
package conform
