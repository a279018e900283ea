// Package webhook serves admission webhooks over HTTPS. Their certificate is the program's own: a
// replica creates it, stores it in a Secret for the others, writes the CA bundle for the API
// server, and renews it long before it ends. Every replica answers, whether or not it leads.
//
// Start with Server in server.go, then keeper in keeper.go.
package webhook
