// Package query is the AWS Query and the EC2 Query wire format, both
// directions: it decodes the form of a request into a tree, hands it to the
// operation, and marshals the result or the error as XML.
//
// It knows nothing of any operation and holds no state. Operations declare
// their answer as structs for encoding/xml; use Members (AWS Query) and Items
// (EC2 Query) for lists that the real service prints even when empty, because
// clients in Python distinguish an absent list from an empty one.
//
// Start with Service, then Params.
package query
