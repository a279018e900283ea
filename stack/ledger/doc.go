// Package ledger records which Service uses which shared resource.
//
// An entry of a shared object, such as a firewall rule, is deleted only with
// the last Service that wants it. The ledger is kept in memory and filled from
// the Services of the cluster; pure code gets it
// as the interface [View]. Start there.
package ledger
