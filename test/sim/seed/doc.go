// Package seed writes what every simulated cloud begins with into files for the
// controllers: its Nodes, its cloud configuration, and what it is made of.
//
// What a cloud begins with is decided in the simulator itself.
package seed
