// Package binaries builds the programs of the control plane from their Go modules
// and keeps them in the user's cache folder, one file per program, version and Go
// version.
//
// A build is minutes of work, so it happens once per machine: a file lock lets
// only one process build a program while the others wait for it, and a program
// appears under its name only when it is complete. It must not import the
// programs, and it downloads nothing but Go modules. Start at Store.Ensure.
package binaries
