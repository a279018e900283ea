// Package page serves the documents of Services to a browser, and the page that shows them. It
// only reads.
package page
