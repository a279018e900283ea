// Package tools holds no code. Its tools.go names the main packages which this
// module builds but never imports, behind a build tag, so that go mod tidy keeps
// their requirements in go.mod and go.sum.
package tools
