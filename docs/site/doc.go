// Package site is a module of its own for Hugo, which the product must never see. The folder has the
// layouts of the documentation site; `make site` builds it from docs.
package site
