// Package identity simulates where programs on Google Cloud get their credentials from: the
// metadata server of an instance, the OAuth token endpoint, which accepts the assertions of
// service account keys, and the token endpoint of the key token-url in gce.conf.
//
// It decides nothing about permissions: every token grants everything.
//
// Start with New.
package identity
