// Package props holds the properties that every provider must have, as one test
// for all: converge, idempotent, order-independent, crash at every call, move
// from one case to another, start anew after nodes went and came, come while another
// Service goes, plan without a read what was never made, delete leaves nothing. And
// [Planned]: what `berth plan` shows is what the controller runs; [Mistaken], [FoundOut] and [Unheeded]: what the cloud
// does not have, though an annotation names it, takes nothing away.
//
// A provider gives a [Subject], its simulator with sessions to it, and cases.
// Nothing here knows a cloud. Start at [Run].
package props
