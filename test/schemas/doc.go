// Package schemas describes the JSON documents of the command line by JSON Schema, inferred from
// the Go types that are encoded. Start at [Documents].
package schemas
