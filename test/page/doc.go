// Package page tests that the bundled files of the page of `berth ui` follow from its sources. It
// is a module of its own: the product needs no bundler.
package page
