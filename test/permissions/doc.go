// Package permissions determines which permissions the program needs in a cloud: it serves
// Services in a simulated one, reads the called operations from the journal, and maps those
// to the vendor's permissions. The results are the files under docs/permissions.
//
// The tables list the permissions of each operation, from the vendors' documents; they must
// not list an unused operation. Only tests of providers import this package. Start with Check
// in walk.go, then the table of a cloud.
package permissions
