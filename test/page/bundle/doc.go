// Package bundle builds the files that a program embeds for the page: one script, one style, the
// page and the licences of the libraries.
package bundle
