// Package conform compares the requests and answers of the Tencent Cloud provider and its
// simulator with the models of the vendor's SDK. An action, a parameter or a field that the SDK
// lacks and a value of another type fail the test, unless they are a listed gap with its source.
//
// The SDK is of 2021: no later release is one that modules can require. The gaps are what the
// API has got since. The program sdk prints its models.
//
// Start at TestModels.
package conform
