// Package query is the AWS Query and the EC2 Query wire format, both
// directions: it decodes the form of a request into a tree, hands it to the
// operation, and marshals the result or the error as XML.
//
// It knows nothing of any operation and holds no state. Operations declare
// the members of requests (Decode) and of answers (Encoder) as structs. A list
// is printed even when it is empty unless it says omitempty, because clients
// in Python distinguish an absent list from an empty one.
//
// Start with Service, then Decode and Params.
package query
