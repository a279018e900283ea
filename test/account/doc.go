// Package account has the tests of a cloud that are the same for every cloud: Services are
// served in one simulated account, and their cost, traffic, refusals, keys and orphans are
// checked. A cloud declares its simulator as a [Cloud]; then each test is one call. Start at
// [Cloud.Begin].
//
// Properties of plans and crashes are in package props; this package runs them on the same
// declaration, see [Cloud.Fresh].
package account
