// Package console serves the page of the controller, from the caches of any replica. Each request
// has the token of a user, and is answered with what the API server lets that user list.
//
// Start with Page in page.go, then Access in access.go.
package console
