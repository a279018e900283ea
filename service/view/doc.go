// Package view has the document of one Service: what cluster, cloud and plan show of it. Commands
// and the page render parts of it.
package view
