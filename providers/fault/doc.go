// Package fault is the closed set of error meanings that the loop acts on.
//
// Every provider maps its cloud's wire codes to one of them in one table;
// nothing above a provider sees a wire code, and nothing anywhere matches on
// error text. Start at [Meaning].
package fault
