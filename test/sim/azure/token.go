package azure

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// tokenLife is how long a token is said to be good, in seconds.
const tokenLife = 86399

// ClientID and ClientSecret are the only application that exists.
const (
	ClientID     = "bbbbbbbb-cccc-4ddd-8eee-ffffffffffff"
	ClientSecret = "simulated-secret"
)

// others finds the call of a path that is not Resource Manager's; nil otherwise.
func (c *Cloud) others(v *visit) func() *arm.Response {
	path := strings.ToLower(strings.TrimRight(v.raw.URL.Path, "/"))
	for _, o := range []struct {
		suffix, service, name string
		run                   func(*visit) *arm.Response
	}{
		{"/metadata/endpoints", "metadata", "Endpoints", (*visit).endpoints},
		{"/metadata/instance", "metadata", "Instance", (*visit).instance},
		{"/metadata/instance/compute", "metadata", "Instance", (*visit).instance},
		{"/metadata/identity/oauth2/token", "metadata", "Token", (*visit).managedToken},
		{"/msi/token", "metadata", "Token", (*visit).managedToken},
		{"/common/discovery/instance", "login", "Discovery", (*visit).discovery},
		{"/.well-known/openid-configuration", "login", "Configuration", (*visit).configuration},
		{"/oauth2/v2.0/token", "login", "Token", (*visit).token},
		{"/oauth2/token", "login", "Token", (*visit).token},
	} {
		whole := strings.HasPrefix(o.suffix, "/metadata") || o.suffix == "/msi/token"
		if path == o.suffix || (!whole && strings.HasSuffix(path, o.suffix)) {
			v.Service, v.Operation = o.service, o.name
			return func() *arm.Response { return o.run(v) }
		}
	}
	return nil
}

// endpoints tells clients with a custom Resource Manager where things are.
func (v *visit) endpoints() *arm.Response {
	base := v.request.Base
	// Tokens are handed out over HTTPS only by the clients' libraries; the same port serves both.
	_, host, _ := strings.Cut(base, "://")
	environment := arm.Doc{
		"name": "AzureCloud", "portal": base, "resourceManager": base, "gallery": base, "graph": base, "batch": base,
		"authentication": arm.Doc{"loginEndpoint": "https://" + host, "audiences": []any{base, "https://management.azure.com/"}, "tenant": v.cloud.opt.Tenant, "identityProvider": "AAD"},
		"suffixes":       arm.Doc{"storage": "core.windows.net", "keyVaultDns": "vault.azure.net", "acrLoginServer": "azurecr.io"},
	}
	if v.request.Query.Get("api-version") < "2019-05-01" {
		return arm.Reply(http.StatusOK, environment)
	}
	return arm.Reply(http.StatusOK, []any{environment})
}

// instance is the metadata of the first node. Source: Azure Instance Metadata Service.
func (v *visit) instance() *arm.Response {
	if !strings.EqualFold(v.raw.Header.Get("Metadata"), "true") {
		return loginError(http.StatusBadRequest, "invalid_request", "Required metadata header not specified")
	}
	o, s := v.cloud.opt, v.cloud.Seed
	compute := arm.Doc{
		"azEnvironment": "AzurePublicCloud", "location": o.Location, "subscriptionId": o.Subscription, "resourceGroupName": s.ResourceGroup,
		"osType": "Linux", "vmSize": nodeSize, "provider": "Microsoft.Compute",
	}
	if len(s.Nodes) > 0 {
		n := s.Nodes[0]
		compute["name"], compute["resourceId"], compute["zone"], compute["vmScaleSetName"] = n.Name, n.ID, n.Zone, s.ScaleSet
		compute["platformFaultDomain"], compute["platformUpdateDomain"] = "0", "0"
	}
	if strings.HasSuffix(v.raw.URL.Path, "/compute") {
		return arm.Reply(http.StatusOK, compute)
	}
	return arm.Reply(http.StatusOK, arm.Doc{"compute": compute, "network": arm.Doc{"interface": []any{}}})
}

// managedToken serves the metadata service's form and that of App Service.
func (v *visit) managedToken() *arm.Response {
	resource := v.request.Query.Get("resource")
	if !strings.EqualFold(v.raw.Header.Get("Metadata"), "true") && v.raw.Header.Get("X-Identity-Header") == "" {
		return loginError(http.StatusBadRequest, "invalid_request", "Required metadata header not specified")
	}
	if resource == "" {
		return loginError(http.StatusBadRequest, "invalid_resource", "AADSTS500014: the resource is missing")
	}
	expires := strconv.FormatInt(v.cloud.clock.Now().Unix()+tokenLife, 10)
	return arm.Reply(http.StatusOK, arm.Doc{
		"access_token": v.cloud.jwt(resource), "client_id": ClientID, "expires_in": strconv.Itoa(tokenLife), "expires_on": expires,
		"ext_expires_in": strconv.Itoa(tokenLife), "not_before": strconv.FormatInt(v.cloud.clock.Now().Unix(), 10), "resource": resource, "token_type": "Bearer",
	})
}

func (v *visit) discovery() *arm.Response {
	host := strings.TrimPrefix(strings.TrimPrefix(v.request.Base, "https://"), "http://")
	return arm.Reply(http.StatusOK, arm.Doc{
		"tenant_discovery_endpoint": v.request.Base + "/" + v.cloud.opt.Tenant + "/v2.0/.well-known/openid-configuration", "api-version": "1.1",
		"metadata": []any{arm.Doc{"preferred_network": host, "preferred_cache": host, "aliases": []any{host}}},
	})
}

// tenant is the first segment of the path.
func (v *visit) tenant() string {
	first, _, _ := strings.Cut(strings.Trim(v.raw.URL.Path, "/"), "/")
	return first
}

func (v *visit) configuration() *arm.Response {
	base := v.request.Base + "/" + v.tenant()
	return arm.Reply(http.StatusOK, arm.Doc{
		"token_endpoint": base + "/oauth2/v2.0/token", "authorization_endpoint": base + "/oauth2/v2.0/authorize", "device_authorization_endpoint": base + "/oauth2/v2.0/devicecode",
		"issuer": base + "/v2.0", "jwks_uri": base + "/discovery/v2.0/keys", "token_endpoint_auth_methods_supported": []any{"client_secret_post", "private_key_jwt"},
		"response_types_supported": []any{"code", "token"}, "subject_types_supported": []any{"pairwise"}, "tenant_region_scope": nil,
	})
}

// token is the client credentials grant of both versions.
func (v *visit) token() *arm.Response {
	values, err := url.ParseQuery(v.request.Form)
	if err != nil {
		return loginError(http.StatusBadRequest, "invalid_request", "AADSTS900144: the body cannot be read")
	}
	audience := strings.TrimSuffix(values.Get("scope"), "/.default") + values.Get("resource")
	switch {
	case v.tenant() != v.cloud.opt.Tenant && v.tenant() != "adfs" && v.tenant() != "common":
		return loginError(http.StatusBadRequest, "invalid_request", "AADSTS90002: Tenant '"+v.tenant()+"' not found.")
	case values.Get("grant_type") != "client_credentials":
		return loginError(http.StatusBadRequest, "unsupported_grant_type", "AADSTS70003: The app requested an unsupported grant type '"+values.Get("grant_type")+"'.")
	case values.Get("client_id") != ClientID:
		return loginError(http.StatusBadRequest, "unauthorized_client", "AADSTS700016: Application with identifier '"+values.Get("client_id")+"' was not found in the directory.")
	case values.Get("client_assertion") == "" && values.Get("client_secret") != ClientSecret:
		return loginError(http.StatusUnauthorized, "invalid_client", "AADSTS7000215: Invalid client secret provided.")
	}
	return arm.Reply(http.StatusOK, arm.Doc{"token_type": "Bearer", "expires_in": tokenLife, "ext_expires_in": tokenLife, "access_token": v.cloud.jwt(audience)})
}

func loginError(status int, code, text string) *arm.Response {
	out := arm.Reply(status, arm.Doc{"error": code, "error_description": text, "trace_id": arm.GUID("trace", 1), "timestamp": "2026-01-01 00:00:00Z"})
	out.Code = code
	return out
}

// jwt returns an unsigned token in the form of a real one.
func (c *Cloud) jwt(audience string) string {
	now := c.clock.Now().Unix()
	part := func(d arm.Doc) string {
		// A document of texts and numbers always marshals.
		text, _ := json.Marshal(d)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(arm.Doc{"typ": "JWT", "alg": "none"}) + "." + part(arm.Doc{
		"aud": audience, "iss": "https://sts.windows.net/" + c.opt.Tenant + "/", "tid": c.opt.Tenant, "appid": ClientID, "oid": arm.GUID("principal", 1),
		"iat": now, "nbf": now, "exp": now + tokenLife,
	}) + ".simulated"
}
