package ibm

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

func identityRoutes() []route {
	open := func(r route) route {
		r.Open, r.Write = true, false
		return r
	}
	token := func(path string) route {
		return open(rest.Writes(apiIAM, "get_token", http.MethodPost, path, http.StatusOK, giveToken))
	}
	return []route{
		token("/identity/token"),
		open(rest.Writes(apiMetadata, "create_access_token", http.MethodPut, "/instance_identity/v1/token", http.StatusOK, giveInstanceToken)),
		open(rest.Writes(apiMetadata, "create_iam_token", http.MethodPost, "/instance_identity/v1/iam_token", http.StatusOK, giveProfileToken)),
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

// giveToken answers the grants of an API key, and of the token of a container with a trusted
// profile.
// Source: IAM Identity Services API reference, "Create an IAM access token".
func giveToken(v *visit) (any, error) {
	key, _ := v.cloud.key.Load().(string)
	switch grant := v.Body.Text("grant_type"); {
	case grant == "urn:ibm:params:oauth:grant-type:apikey" && v.Body.Text("apikey") != key:
		return nil, rest.Refuse(http.StatusBadRequest, "BXNIM0415E", "Provided API key could not be found.")
	case grant == "urn:ibm:params:oauth:grant-type:apikey":
	case grant != "urn:ibm:params:oauth:grant-type:cr-token":
		return nil, rest.Refuse(http.StatusBadRequest, "BXNIM0137E", "Provided grant_type is not supported")
	case v.Body.Text("cr_token") != containerToken || v.Body.Text("profile_name") != trustedProfile:
		return nil, rest.Refuse(http.StatusBadRequest, "BXNIM0493E", "The compute resource is not linked to the trusted profile")
	}
	return rest.Object{
		"access_token": accessToken(), "refresh_token": "not_supported", "token_type": "Bearer",
		"expires_in": int(tokenLife.Seconds()), "expiration": v.Time.Add(tokenLife).Unix(), "scope": "ibm openid",
	}, nil
}

// RotateKey replaces the API key of the account and returns the new one. Tokens that were
// given for the old one stay valid.
func (c *Cloud) RotateKey() string {
	key := apiKey + "-" + strconv.Itoa(len(c.Journal.Entries()))
	c.key.Store(key)
	return key
}

// The credentials of machines: the token of a container, and the trusted profile that
// containers and instances are linked to.
const (
	containerToken = "simulated-container-token"
	trustedProfile = "berth-controller"
	instanceToken  = "simulated-instance-identity"
)

// giveInstanceToken answers an instance that asks for its identity.
// Source: VPC Instance Metadata API reference, "Create an instance identity access token".
func giveInstanceToken(v *visit) (any, error) { return v.metadata(instanceToken) }

// giveProfileToken exchanges the identity of an instance for a token of a trusted profile.
// Source: VPC Instance Metadata API reference, "Create an IAM token".
func giveProfileToken(v *visit) (any, error) {
	if v.HTTP.Header.Get("Authorization") != "Bearer "+instanceToken || v.Body.Object("trusted_profile").Text("name") != trustedProfile {
		return nil, rest.Refuse(http.StatusForbidden, "not_authorized", "The instance is not linked to the trusted profile")
	}
	return v.metadata(accessToken())
}

func (v *visit) metadata(token string) (any, error) {
	if v.HTTP.Header.Get("Metadata-Flavor") != "ibm" {
		return nil, rest.Refuse(http.StatusBadRequest, "missing_metadata_flavor", "The header Metadata-Flavor is required")
	}
	return rest.Object{
		"access_token": token, "created_at": v.Time.UTC().Format(timeForm), "expires_at": v.Time.Add(tokenLife).UTC().Format(timeForm), "expires_in": int(tokenLife.Seconds()),
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

// showGroupOf returns the reference to a resource group.
func (v *visit) showGroupOf(id string) rest.Object {
	g, _ := v.State.Get(resourceGroups, id)
	return resourceGroupRef(id, g.Text("name"))
}

func resourceGroupRef(id, name string) rest.Object {
	return rest.Object{"id": id, "name": name, "href": "https://resource-controller.cloud.ibm.com/v2/resource_groups/" + id}
}
