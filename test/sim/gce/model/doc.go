// Package model reads the description of the Compute Engine API that its vendor
// ships with google.golang.org/api, and checks the simulator against it: methods,
// fields, types and legal values. It is for tests only.
//
// It knows nothing that is not in the description.
//
// Start with Load.
package model
