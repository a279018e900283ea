package oci

import (
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// The client that the identity domain knows.
const (
	DomainClient = "berth"
	DomainSecret = "not a secret"
)

// exchangeToken gives the holder of a ServiceAccount's token one of a resource principal, for a
// key of its own. The caller is a client of the domain, or an instance.
// Sources: RFC 8693; IAM documentation, "Exchanging a JSON Web Token"; oracle/oci-go-sdk:common/auth,
// the client of the token exchange.
func exchangeToken(v *visit) (any, error) {
	if name, secret, basic := v.HTTP.BasicAuth(); basic {
		if name != DomainClient || secret != DomainSecret {
			return nil, refuseExchange("invalid_client", "the client is not known")
		}
	} else if !strings.HasPrefix(v.HTTP.Header.Get("Authorization"), "Signature ") || v.authenticate() != nil {
		return nil, refuseExchange("invalid_client", "neither a client nor an instance asks")
	}
	for name, want := range map[string]string{
		"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "requested_token_type": "urn:oci:token-type:oci-rpst", "subject_token_type": "jwt",
	} {
		if v.Body.Text(name) != want {
			return nil, rest.Refuse(http.StatusBadRequest, "invalid_request", "%s must be %s", name, want)
		}
	}
	if v.Body.Text("res_type") == "" {
		return nil, rest.Refuse(http.StatusBadRequest, "invalid_request", "res_type is missing")
	}
	account, err := v.accountIn(v.Body.Text("subject_token"))
	if err != nil {
		return nil, refuseExchange("invalid_grant", err.Error())
	}
	token, err := v.session(v.Body.Text("public_key"), account)
	return rest.Object{"token": token}, err
}

func refuseExchange(code, why string) error {
	return rest.Refuse(http.StatusUnauthorized, code, "%s", why)
}
