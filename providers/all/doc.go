// Package all is the list of clouds. It imports every provider and nothing
// else does: a program that wants one cloud imports that one.
package all
