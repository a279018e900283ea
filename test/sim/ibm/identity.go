package ibm

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

func identityRoutes() []route {
	token := func(path string) route {
		r := rest.Writes(apiIAM, "get_token", http.MethodPost, path, http.StatusOK, giveToken)
		r.Open, r.Write = true, false
		return r
	}
	return []route{
		token("/identity/token"),
		token("/"), // the official controller's reader of instances appends nothing
		rest.Reads(apiResources, "list_resource_groups", "/v2/resource_groups", listResourceGroups),
	}
}

// tokenLife is how long a token is valid. Source: IAM documentation, "IBM Cloud IAM tokens".
const tokenLife = time.Hour

// accessToken returns a token in the form of a JWT, whose signature is not checked.
func accessToken() string {
	part := func(v map[string]any) string {
		raw, _ := json.Marshal(v) // texts and numbers always are JSON
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	return part(map[string]any{"alg": "RS256", "typ": "JWT"}) + "." + part(map[string]any{"iam_id": "iam-ServiceId-berth", "account": map[string]any{"bss": accountID}}) + ".c2ltdWxhdGVk"
}

// giveToken answers the grant of an API key.
// Source: IAM Identity Services API reference, "Create an IAM access token".
func giveToken(v *visit) (any, error) {
	if v.Body.Text("grant_type") != "urn:ibm:params:oauth:grant-type:apikey" {
		return nil, rest.Refuse(http.StatusBadRequest, "BXNIM0137E", "Provided grant_type is not supported")
	}
	if v.Body.Text("apikey") != apiKey {
		return nil, rest.Refuse(http.StatusBadRequest, "BXNIM0415E", "Provided API key could not be found.")
	}
	return rest.Object{
		"access_token": accessToken(), "refresh_token": "not_supported", "token_type": "Bearer",
		"expires_in": int(tokenLife.Seconds()), "expiration": v.Time.Add(tokenLife).Unix(), "scope": "ibm openid",
	}, nil
}

// listResourceGroups answers the groups of a name. An account without the right to see them
// gets an empty list.
func listResourceGroups(v *visit) (any, error) {
	name := v.HTTP.URL.Query().Get("name")
	found := v.State.All(resourceGroups, func(o rest.Object) bool { return name == "" || o.Text("name") == name })
	items := []any{}
	for _, o := range found {
		items = append(items, o)
	}
	return rest.Object{"resources": items}, nil
}
