// Command release builds what a release consists of: the programs for every
// platform, for each a list of what is in it (SBOM), the command line as a plugin for Krew, the
// chart as a package, and the checksums of all. The same commit gives the same bytes, wherever it is built.
//
// It publishes and signs nothing. Start with Build in build.go.
package main
