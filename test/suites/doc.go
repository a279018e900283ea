// Command suites measures the processor time of the tests of each package, and writes the table
// of docs/testing.md. Packages that are not selected keep their rows.
//
//	go run ./test/suites -only '^providers/aws(/|$)'
//
// Start with measureSuites. The table is in table.go.
package main
