// Package golden compares test output with files kept beside the tests.
//
// One flag for the whole repository, -update, rewrites the files; `make golden`
// passes it to every package that has golden files. A changed golden is read by
// a person before it is committed: the file is the specification of the output.
package golden
