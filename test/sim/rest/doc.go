// Package rest holds what simulators of REST APIs share: JSON documents, tables of
// them, and paths with parameters.
//
// It knows no cloud.
//
// Start with Object.
package rest
