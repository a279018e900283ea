// Package wire is how Google's JSON APIs look on the wire: documents, errors,
// routes, references between resources, filters, pages and the checks of a
// request body against the fields that a resource has.
//
// It knows no resource and no rule of Compute Engine, and it keeps no state.
//
// Start with Request and Error.
package wire
