// Package tools is the module that pins the versions of the tools which check
// this repository, so that they come with `go mod download` and their
// requirements stay out of the product. It holds no code. The tools are the tool
// lines of its go.mod; the Makefile runs them.
package tools
