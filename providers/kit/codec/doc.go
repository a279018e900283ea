// Package codec translates the resources of a REST API between JSON objects and
// specs, by one declaration for each kind.
//
// A [Kind] lists the fields of a JSON object, each with the field of the spec that
// it stands for and with what the API allows: a field is fixed at creation, can be
// updated, or forces a replacement. From this follow the body of a creation, the
// body of an update with the changed fields only, the spec of an observed object,
// the part of the diff rule that is about fields, and the name under which metrics
// count the operation. Nothing here sends a request, so that bodies are tested as
// values. Start at [New] and [Of].
package codec
