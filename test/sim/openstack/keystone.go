package openstack

import (
	"fmt"
	"net/http"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// What logs in to the seeded cloud: a user, an application credential of the name berth,
// and a trust.
const (
	UserName     = "cluster"
	Password     = "planted-openstack-password-c40d"
	CredentialID = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	Credential   = "application-secret"
	Trust        = "7a0e5b1c2d3e4f5061728394a5b6c7d8"

	domain = "Default"
)

// UserID is the id of the user.
func UserID() string { return idOf("user") }

// identityRoutes are the calls of Keystone, and the version documents of all APIs.
func identityRoutes() []route {
	out := []route{
		{API: apiKeystone, Name: "ListVersions", Method: http.MethodGet, Path: "/identity", Open: true, Status: http.StatusMultipleChoices, Run: keystoneVersions},
		{API: apiKeystone, Name: "ShowVersion", Method: http.MethodGet, Path: "/identity/v3", Open: true, Status: http.StatusOK, Run: keystoneVersion},
		{API: apiKeystone, Name: "CreateToken", Method: http.MethodPost, Path: "/identity/v3/auth/tokens", Open: true, Status: http.StatusCreated, Run: createToken},
	}
	for _, api := range []string{apiOctavia, apiNeutron, apiBarbican, apiNova} {
		out = append(out, rest.Reads(api, "ListVersions", "/"+api, apiVersions))
	}
	return out
}

func (v *visit) base() string {
	if v.HTTP.TLS != nil {
		return "https://" + v.HTTP.Host
	}
	return "http://" + v.HTTP.Host
}

func (v *visit) keystoneDocument() Object {
	return Object{
		"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z", "links": []any{Object{"rel": "self", "href": v.base() + "/identity/v3/"}},
		"media-types": []any{Object{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}},
	}
}

func keystoneVersions(v *visit) (any, error) {
	return Object{"versions": Object{"values": []any{v.keystoneDocument()}}}, nil
}

func keystoneVersion(v *visit) (any, error) { return Object{"version": v.keystoneDocument()}, nil }

// apiVersions is the list of versions at the root of an API.
// Source: a real Octavia and Neutron; Barbican and Nova API references.
func apiVersions(v *visit) (any, error) {
	version := func(id, status, path string) Object {
		return Object{"id": id, "status": status, "updated": "2021-01-01T00:00:00Z", "links": []any{Object{"rel": "self", "href": v.base() + "/" + v.Service + path}}}
	}
	switch v.Service {
	case apiOctavia:
		var all []any
		for minor := range v.cloud.opt.Version + 1 {
			status := "SUPPORTED"
			if minor == v.cloud.opt.Version {
				status = "CURRENT"
			}
			all = append(all, version(fmt.Sprintf("v2.%d", minor), status, "/v2"))
		}
		return Object{"versions": all}, nil
	case apiNeutron:
		only := version("v2.0", "CURRENT", "/v2.0/")
		delete(only, "updated")
		return Object{"versions": []any{only}}, nil
	case apiBarbican:
		return Object{"versions": []any{version("v1", "CURRENT", "/v1/")}}, nil
	}
	return Object{"versions": []any{version("v2.1", "CURRENT", "/v2.1/")}}, nil
}

// createToken logs in by password, application credential, token or trust.
// Source: Identity API v3 reference, password and application credential authentication,
// OS-TRUST.
func createToken(v *visit) (any, error) {
	auth := v.Body.Object("auth")
	denied := rest.Refuse(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication.")
	identity := auth.Object("identity")
	methods := identity.Texts("methods")
	if len(methods) == 0 || !v.proves(methods[0], identity) {
		return nil, denied
	}
	if wanted := auth.Object("scope").Object("project").Text("name"); wanted != "" && wanted != v.cloud.opt.Project {
		return nil, denied
	}
	if given := auth.Object("scope").Object("OS-TRUST:trust"); given != nil && given.Text("id") != Trust {
		return nil, denied
	}
	expires := v.Time.Add(v.cloud.opt.TokenAge)
	token := idOf(fmt.Sprintf("token %d", len(v.cloud.tokens)))
	v.cloud.tokens[token] = expires
	v.Answer = rest.Answer{Status: http.StatusCreated, Header: http.Header{"X-Subject-Token": {token}}, Body: Object{"token": Object{
		"methods": rest.Anys(methods), "issued_at": formatKeystoneTime(v.Time), "expires_at": formatKeystoneTime(expires), "catalog": v.catalog(),
		"user":    Object{"id": idOf("user"), "name": UserName, "domain": Object{"id": "default", "name": domain}},
		"project": Object{"id": v.cloud.projectID(), "name": v.cloud.opt.Project, "domain": Object{"id": "default", "name": domain}},
		"roles":   []any{Object{"id": idOf("role"), "name": "load-balancer_member"}, Object{"id": idOf("member"), "name": "member"}},
	}}}
	return nil, nil
}

// proves reports whether an identity is that of the seeded user.
func (v *visit) proves(method string, identity Object) bool {
	switch method {
	case "password":
		user := identity.Object("password").Object("user")
		return user.Text("password") == Password && (user.Text("name") == UserName || user.Text("id") == UserID())
	case "application_credential":
		c := identity.Object("application_credential")
		return c.Text("secret") == Credential && (c.Text("id") == CredentialID || c.Text("name") == "berth" && c.Object("user").Text("name") == UserName)
	case "token":
		return v.cloud.knows(identity.Object("token").Text("id"), v.Time)
	}
	return false
}

// knows reports whether a token is valid. Tokens are created and checked with the lock held.
func (c *Cloud) knows(token string, now time.Time) bool {
	until, ok := c.tokens[token]
	return ok && now.Before(until)
}

func (c *Cloud) projectID() string { return idOf("project " + c.opt.Project) }

// catalog lists the APIs, without versions in their addresses.
func (v *visit) catalog() []any {
	var out []any
	for _, api := range []string{apiKeystone, apiOctavia, apiNeutron, apiBarbican, apiNova} {
		if api == apiBarbican && v.cloud.opt.NoKeyManager {
			continue
		}
		var endpoints []any
		for _, face := range []string{"public", "internal", "admin"} {
			endpoints = append(endpoints, Object{
				"id": idOf(api + face), "interface": face, "region": v.cloud.opt.Region, "region_id": v.cloud.opt.Region, "url": v.base() + "/" + api,
			})
		}
		out = append(out, Object{"id": idOf(api), "name": api, "type": api, "endpoints": endpoints})
	}
	return out
}

func formatKeystoneTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// formatTime formats a time as Octavia and Neutron do.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }
