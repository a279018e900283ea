package service

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

// tokenSeconds is the requested validity of ServiceAccount tokens. The API server
// issues none for less than ten minutes.
const tokenSeconds = 3600

// AccountTokens returns a function that requests tokens of ServiceAccounts for the API
// server's own audience. The client needs the right to create serviceaccounts/token of
// their names, and none to read them.
func AccountTokens(client kubernetes.Interface) func(ctx context.Context, namespace, account string) (providers.AccountToken, error) {
	return func(ctx context.Context, namespace, account string) (providers.AccountToken, error) {
		seconds := int64(tokenSeconds)
		ask := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
		given, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, ask, metav1.CreateOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return providers.AccountToken{}, fault.New(fault.NotFound, "service account %s/%s is not found", namespace, account)
		case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
			return providers.AccountToken{}, fault.New(fault.Denied, "the controller may not request tokens of service account %s/%s, which needs the right to create serviceaccounts/token of that name: %v", namespace, account, err)
		case err != nil:
			return providers.AccountToken{}, fault.New(fault.Unavailable, "token of service account %s/%s: %v", namespace, account, err)
		}
		return providers.AccountToken{Text: given.Status.Token, UID: accountUID(given.Status.Token), Until: given.Status.ExpirationTimestamp.Time}, nil
	}
}

// accountUID returns the UID of the ServiceAccount of a token of the API server; empty if
// the token lacks it.
func accountUID(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	var claims struct {
		Cluster struct {
			Account struct {
				UID string `json:"uid"`
			} `json:"serviceaccount"`
		} `json:"kubernetes.io"`
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &claims) != nil {
		return ""
	}
	return claims.Cluster.Account.UID
}
