package wire

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
)

// newMeter reports every request to the API to the observer. Tokens are requested by
// other clients and do not count as calls.
func newMeter(next http.RoundTripper, observe providers.Observe) http.RoundTripper {
	return meter.New(next, observe, meter.Language{Name: nameOf, Refusal: refusalOf})
}

// nameOf is the id of the method that a request calls, without the name of the
// API: "forwardingRules.insert". Source: Compute Engine API, discovery document v1.
func nameOf(r *http.Request) providers.Call {
	call := providers.Call{API: "compute", Operation: "unknown"}
	_, path, ok := strings.Cut(r.URL.Path, "/projects/")
	if !ok {
		return call
	}
	if strings.HasSuffix(path, testPermissions) {
		return providers.Call{API: "cloudresourcemanager", Operation: "projects" + strings.Replace(testPermissions, ":", ".", 1)}
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")[1:] // without the project
	if len(parts) == 0 {
		call.Operation = "projects.get"
		return call
	}
	switch scope, rest := parts[0], parts[1:]; {
	case scope == "aggregated" && len(rest) == 1:
		call.Operation = rest[0] + ".aggregatedList"
	case scope == "global" && len(rest) > 0:
		call.Operation = methodOf(collectionIn(scope, rest[0]), r.Method, rest[1:])
	case (scope == "regions" || scope == "zones") && len(rest) > 1:
		call.Operation = methodOf(collectionIn(scope, rest[1]), r.Method, rest[2:])
	case scope == "regions" || scope == "zones":
		call.Operation = methodOf(scope, r.Method, rest)
	case len(rest) == 0:
		call.Operation = "projects." + scope
	}
	return call
}

// collectionIn returns the discovery document's name of a collection in a scope. Of
// collections in several scopes, one has the plain name.
func collectionIn(scope, name string) string {
	prefix := map[string]string{
		"global addresses": "global", "global forwardingRules": "global", "global networkEndpointGroups": "global",
		"regions backendServices": "region", "regions healthChecks": "region", "regions instanceGroups": "region", "regions networkEndpointGroups": "region",
		"global operations": "global", "regions operations": "region", "zones operations": "zone",
	}[scope+" "+name]
	if prefix == "" {
		return name
	}
	return prefix + strings.ToUpper(name[:1]) + name[1:]
}

// methodOf is collection and verb; rest is what follows the collection in the
// path: nothing, a name, or a name and a verb.
func methodOf(collection, method string, rest []string) string {
	verb := "unknown"
	switch len(rest) {
	case 0:
		verb = map[string]string{http.MethodGet: "list", http.MethodPost: "insert"}[method]
	case 1:
		verb = map[string]string{http.MethodGet: "get", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[method]
	case 2:
		verb = rest[1]
	}
	return collection + "." + verb
}

// refusalOf reads the reason out of a refusal; the status stands for what has none.
func refusalOf(status int, _ http.Header, body []byte) providers.Answer {
	var said struct {
		Error struct {
			Errors []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	refused := kit.Refusal{Status: status}
	// A body that is not JSON has no reason.
	if json.Unmarshal(body, &said) == nil && len(said.Error.Errors) > 0 {
		refused.Code = said.Error.Errors[0].Reason
	}
	return answerErrors().Answer(refused)
}
