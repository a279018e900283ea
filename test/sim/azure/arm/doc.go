// Package arm is the part of the Azure simulator that all resource providers
// share: ids, documents, etags, references between resources, asynchronous
// operations, paging and the wire format of Azure Resource Manager.
//
// It knows no resource type; network and compute bring those as Kinds. It is
// not safe for concurrent use: the cloud around it lets one write pass at a time.
//
// Start with Service.Find and Kind.
package arm
