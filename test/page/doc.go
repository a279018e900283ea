// Package page tests the page that `berth ui` serves in a browser, and that its bundled files
// follow from its sources. It is a module of its own: the product needs neither a bundler nor a
// driver of browsers.
package page
