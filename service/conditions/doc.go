// Package conditions says what a run comes to, in the words that a Service carries:
// its conditions, and the texts of events.
//
// Our own loop and the stock one write them at different moments and on different
// ways, but what they mean must not depend on who runs. It computes values and
// writes nothing.
//
// Start with Accepted and Programmed.
package conditions
