// Package argocd runs the health check for Argo CD of integrations/argocd in the
// interpreter that Argo CD has, on Services in every state.
package argocd
