// Package ledger records what all Services want of the things they share.
//
// It is the memory behind shared entries: an entry of a shared object, such as
// a firewall rule, goes only with the last Service that wants it. The ledger is
// in memory and is filled from the Services of the cluster; pure code gets it
// as the interface [View]. Start there.
package ledger
