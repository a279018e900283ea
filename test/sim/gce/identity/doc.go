// Package identity simulates where programs on Google Cloud get their
// credentials from: the metadata server of an instance, the OAuth token endpoint,
// which takes the assertions of service account keys, and the token endpoint that
// the key token-url of gce.conf leads to.
//
// It decides nothing about permissions: whoever has a token may do everything.
//
// Start with New.
package identity
