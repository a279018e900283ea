// Package rest holds what simulators of REST APIs share: the way of a call to its
// route, refusals, JSON documents, tables of them, and paths with parameters.
//
// It knows no cloud.
//
// Start with Server.
package rest
