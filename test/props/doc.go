// Package props holds the properties that every provider must have, as one test for all:
// converge, idempotent, order-independent, crash at every call, move from one case to
// another, restart after nodes were deleted and created, create while another Service is
// deleted, plan a new Service without a read, delete leaves nothing. [Planned] verifies that
// `berth plan` shows the steps that the controller runs. [Mistaken], [FoundOut] and
// [Unheeded] verify that an annotation with the name of a missing resource deletes nothing.
//
// A provider passes a [Subject], its simulator with sessions to it, and cases. This package
// depends on no cloud. Start at [Run].
package props
