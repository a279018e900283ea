// Package wire is the half of Quay that talks to the API. It reads and performs
// steps, and decides nothing. Start at [Open].
package wire
