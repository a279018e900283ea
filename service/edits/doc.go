// Package edits compares the Services of two versions of manifests. For each Service it lists what
// differs, and what the difference does to a live load balancer as far as the declarations of
// annotations and the fields of the Service say. The package does no I/O; start at [Compare].
package edits
