// Package permissions finds out which permissions the program needs in a cloud:
// it serves Services in a simulated one, looks into the journal which operations
// were called, and turns those into the vendor's permissions. The files under
// docs/permissions are what comes of it.
//
// The tables say what operations need, from the vendors' documents; they must not
// list what nothing calls. Nothing but tests of providers imports this package.
// Start with Check in walk.go, then the table of a cloud.
package permissions
