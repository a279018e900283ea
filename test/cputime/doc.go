// Package cputime measures work by the processor time that it takes, which is about the
// same on a busy machine as on a quiet one. It is for tests of how work grows, and for
// ratios within one run: no test should know how many seconds something takes. Start with
// Least.
package cputime
