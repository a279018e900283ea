// Package compute is the rules of Microsoft.Compute in the Azure simulator:
// scale sets with their instances, virtual machines, availability sets.
//
// It knows networks only through the interfaces of machines.
//
// Start with New.
package compute
