package identity

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Machine is the instance whose metadata are served.
type Machine struct {
	Project       string
	ProjectNumber uint64
	Zone          string
	Name          string
	IP            string
	Network       string
	ClusterName   string
	// ClusterLocation is a region or a zone.
	ClusterLocation string
	ClusterUID      string
}

// Server answers the metadata server's and the token endpoints' paths.
type Server struct {
	*Issuer
	machine Machine
}

// New makes a server for one machine.
func New(m Machine) *Server {
	return &Server{Issuer: &Issuer{Email: "berth@" + m.Project + ".iam.gserviceaccount.com"}, machine: m}
}

// Answer is an answer ready to be written.
type Answer struct {
	Status int
	Type   string
	Body   []byte
	// Code is the word for a refusal.
	Code string
}

// Name is the operation that a path stands for, empty if it is none of the server's.
func (s *Server) Name(r *http.Request) (service, operation string) {
	path := strings.Trim(r.URL.Path, "/")
	switch {
	case path == "" || path == "computeMetadata" || strings.HasPrefix(path, "computeMetadata/"):
		return "metadata", strings.TrimPrefix(strings.TrimPrefix(path, "computeMetadata"), "/v1/")
	case path == "token":
		return "oauth2", "token"
	}
	return "", ""
}

// Serve answers a request for which Name gave a name.
func (s *Server) Serve(r *http.Request, now time.Time) *Answer {
	if service, _ := s.Name(r); service == "oauth2" {
		return s.token(r, now)
	}
	// The header keeps web pages from reading a server's metadata.
	// Source: Compute Engine documentation, about VM metadata.
	path := strings.Trim(r.URL.Path, "/")
	if path == "" {
		return textAnswer("computeMetadata/\n")
	}
	if r.Header.Get("Metadata-Flavor") != "Google" {
		return errorAnswer(http.StatusForbidden, "missingFlavor", "Missing required header \"Metadata-Flavor\": \"Google\"")
	}
	return s.metadata(strings.TrimPrefix(strings.TrimPrefix(path, "computeMetadata"), "/v1"), r, now)
}

func (s *Server) values(now time.Time, scopes string) map[string]func() string {
	m := s.machine
	fixed := func(v string) func() string { return func() string { return v } }
	number := strconv.FormatUint(m.ProjectNumber, 10)
	const all = "https://www.googleapis.com/auth/cloud-platform"
	token := func() string {
		value, expires := s.Issue(now)
		// The answer is made of texts and a number, which can always be written.
		doc, _ := json.Marshal(map[string]any{"access_token": value, "expires_in": int(expires.Sub(now).Seconds()), "token_type": "Bearer"})
		return string(doc)
	}
	if scopes == "" {
		scopes = all
	}
	out := map[string]func() string{
		"project/project-id": fixed(m.Project), "project/numeric-project-id": fixed(number),
		"instance/zone": fixed("projects/" + number + "/zones/" + m.Zone), "instance/name": fixed(m.Name), "instance/id": fixed("1000000000000000001"),
		"instance/hostname":                       fixed(m.Name + "." + m.Zone + ".c." + m.Project + ".internal"),
		"instance/attributes/cluster-name":        fixed(m.ClusterName),
		"instance/attributes/cluster-location":    fixed(m.ClusterLocation),
		"instance/attributes/cluster-uid":         fixed(m.ClusterUID),
		"instance/network-interfaces/0/network":   fixed("projects/" + number + "/networks/" + m.Network),
		"instance/network-interfaces/0/ip":        fixed(m.IP),
		"universe/universe-domain":                fixed("googleapis.com"),
		"universe/universe_domain":                fixed("googleapis.com"),
		"instance/service-accounts/default/email": fixed(s.Email), "instance/service-accounts/default/scopes": fixed(scopes + "\n"),
		"instance/service-accounts/default/aliases": fixed("default\n"), "instance/service-accounts/default/token": token,
		"instance/service-accounts/default/identity": fixed("e30.e30.c2ln"),
	}
	for name, value := range out {
		if rest, ok := strings.CutPrefix(name, "instance/service-accounts/default/"); ok {
			out["instance/service-accounts/"+s.Email+"/"+rest] = value
		}
	}
	return out
}

func (s *Server) metadata(path string, r *http.Request, now time.Time) *Answer {
	path = strings.Trim(path, "/")
	values := s.values(now, r.URL.Query().Get("scopes"))
	if value, ok := values[path]; ok {
		out := textAnswer(value())
		if strings.HasSuffix(path, "/token") {
			out.Type = "application/json"
		}
		return out
	}
	below := path + "/"
	if path == "" {
		below = ""
	}
	children := map[string]bool{}
	flat := map[string]any{}
	for name, value := range values {
		rest, ok := strings.CutPrefix(name, below)
		if !ok {
			continue
		}
		first, _, deeper := strings.Cut(rest, "/")
		if deeper {
			first += "/"
		} else if first != "token" && first != "identity" {
			flat[camelCase(first)] = strings.TrimSpace(value())
			if first == "scopes" || first == "aliases" {
				flat[first] = strings.Fields(value())
			}
		}
		children[first] = true
	}
	if len(children) == 0 {
		return errorAnswer(http.StatusNotFound, "notFound", fmt.Sprintf("The requested URL /computeMetadata/v1/%s was not found on this server.", path))
	}
	if r.URL.Query().Get("recursive") == "true" {
		// A level is as deep as requests need: a service account or the attributes.
		doc, _ := json.Marshal(flat) // texts can always be written
		return &Answer{Status: http.StatusOK, Type: "application/json", Body: doc}
	}
	return textAnswer(strings.Join(slices.Sorted(maps.Keys(children)), "\n") + "\n")
}

// camelCase turns "cluster-name" into "clusterName", as JSON answers spell it.
func camelCase(name string) string {
	parts := strings.Split(name, "-")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

// token answers both token endpoints. A form is OAuth; JSON, or nothing, is what
// token-url and token-body of gce.conf send.
// Source: kubernetes/cloud-provider-gcp:providers/gce/token_source.go.
func (s *Server) token(r *http.Request, now time.Time) *Answer {
	if r.Method != http.MethodPost {
		return errorAnswer(http.StatusMethodNotAllowed, "methodNotAllowed", "want POST")
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		value, expires := s.Issue(now)
		return jsonAnswer(http.StatusOK, "", map[string]any{"accessToken": value, "expireTime": expires.UTC().Format(time.RFC3339)})
	}
	if err := r.ParseForm(); err != nil {
		return oauthError("invalid_request", err.Error())
	}
	switch grant := r.PostForm.Get("grant_type"); grant {
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		if err := s.verify(r.PostForm.Get("assertion"), now); err != nil {
			return oauthError("invalid_grant", err.Error())
		}
	case "refresh_token":
		if r.PostForm.Get("refresh_token") == "" {
			return oauthError("invalid_request", "Missing required parameter: refresh_token")
		}
	default:
		return oauthError("unsupported_grant_type", "Invalid grant_type: "+grant)
	}
	value, expires := s.Issue(now)
	return jsonAnswer(http.StatusOK, "", map[string]any{"access_token": value, "expires_in": int(expires.Sub(now).Seconds()), "token_type": "Bearer"})
}

func oauthError(code, why string) *Answer {
	return jsonAnswer(http.StatusBadRequest, code, map[string]any{"error": code, "error_description": why})
}

func jsonAnswer(status int, code string, doc map[string]any) *Answer {
	data, _ := json.Marshal(doc) // texts and numbers can always be written
	return &Answer{Status: status, Type: "application/json; charset=utf-8", Body: data, Code: code}
}

func textAnswer(body string) *Answer {
	return &Answer{Status: http.StatusOK, Type: "application/text", Body: []byte(body)}
}

func errorAnswer(status int, code, why string) *Answer {
	return &Answer{Status: status, Type: "text/html; charset=UTF-8", Body: []byte(why + "\n"), Code: code}
}

// Write sends the answer.
func (a *Answer) Write(w http.ResponseWriter) {
	w.Header().Set("Metadata-Flavor", "Google")
	w.Header().Set("Server", "Metadata Server for VM")
	w.Header().Set("Content-Type", a.Type)
	w.WriteHeader(a.Status)
	// A disconnected client is no fault of the simulator.
	_, _ = w.Write(a.Body)
}
