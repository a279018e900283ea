// Package doctor checks the setup of a controller: from objects of the cluster, which are values
// here, and from what a cloud reports of itself. It calls neither. Start at [Checks].
package doctor
