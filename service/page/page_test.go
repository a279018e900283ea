package page

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack/plan"
)

// counted is a source with one Service that counts its reads.
type counted struct{ reads int }

func (c *counted) Fleet(context.Context) (view.Fleet, error) {
	c.reads++
	return view.Fleet{Total: 1, Services: make([]view.Service, 1)}, nil
}

func (c *counted) Planned(context.Context) (view.Fleet, error) {
	c.reads++
	return view.Fleet{}, errors.New("the cloud does not answer")
}

func (c *counted) Service(context.Context, string, string) (view.Service, error) {
	c.reads++
	return view.Service{}, view.ErrNotFound
}

func (c *counted) Plan(context.Context) (plan.Document, error) { return plan.Document{}, nil }

func (c *counted) Shared(context.Context) (view.Shared, error) { return view.Shared{}, nil }

const (
	host   = "127.0.0.1:4000"
	secret = "0123456789abcdef"
)

// askServer sends a request; the header is pairs of a name and a value.
func askServer(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+host+path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestGuard: a request of another site, user or method reads nothing.
func TestGuard(t *testing.T) {
	bearer := "Bearer " + secret
	for name, tc := range map[string]struct {
		method, path string
		header       []string
		status       int
		reads        int
	}{
		"page":                {http.MethodGet, "/", nil, 200, 0},
		"script":              {http.MethodGet, "/app.js", nil, 200, 0},
		"licences":            {http.MethodGet, "/licenses.txt", nil, 200, 0},
		"another file":        {http.MethodGet, "/dist/app.js", nil, 404, 0},
		"document":            {http.MethodGet, "/api/v1/services", []string{"Authorization", bearer}, 200, 1},
		"no token":            {http.MethodGet, "/api/v1/services", nil, 401, 0},
		"wrong token":         {http.MethodGet, "/api/v1/services", []string{"Authorization", bearer + "0"}, 401, 0},
		"token in a cookie":   {http.MethodGet, "/api/v1/services", []string{"Cookie", "token=" + secret}, 401, 0},
		"token in the query":  {http.MethodGet, "/api/v1/services?token=" + secret, nil, 401, 0},
		"name of another":     {http.MethodGet, "/api/v1/services", []string{"Authorization", bearer, "Host", "rebound.example:4000"}, 421, 0},
		"another port":        {http.MethodGet, "/", []string{"Host", "127.0.0.1:4001"}, 421, 0},
		"post":                {http.MethodPost, "/api/v1/services", []string{"Authorization", bearer}, 405, 0},
		"head":                {http.MethodHead, "/api/v1/services", []string{"Authorization", bearer}, 405, 0},
		"bad offset":          {http.MethodGet, "/api/v1/services?offset=-1", []string{"Authorization", bearer}, 400, 0},
		"bad limit":           {http.MethodGet, "/api/v1/services?limit=many", []string{"Authorization", bearer}, 400, 0},
		"unknown Service":     {http.MethodGet, "/api/v1/services/a/b", []string{"Authorization", bearer}, 404, 1},
		"cloud does not read": {http.MethodGet, "/api/v1/services?planned=1", []string{"Authorization", bearer}, 502, 1},
	} {
		t.Run(name, func(t *testing.T) {
			source := &counted{}
			w := askServer(New(source, Guard{Token: secret, Hosts: []string{host}}), tc.method, tc.path, tc.header...)
			if w.Code != tc.status || source.reads != tc.reads {
				t.Errorf("status %d after %d reads, want %d and %d: %s", w.Code, source.reads, tc.status, tc.reads, w.Body)
			}
			csp := w.Header().Get("Content-Security-Policy")
			if !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'") || w.Header().Get("X-Content-Type-Options") != "nosniff" || len(w.Header().Values("Set-Cookie")) > 0 {
				t.Errorf("the headers are %v", w.Header())
			}
		})
	}
	if w := askServer(New(&counted{}, Guard{Hosts: []string{host}}), http.MethodGet, "/api/v1/services", "Authorization", "Bearer "); w.Code != http.StatusUnauthorized {
		t.Errorf("a server without a token answers %d", w.Code)
	}
}

// TestUnchanged: an unchanged document is not sent again.
func TestUnchanged(t *testing.T) {
	h := New(&counted{}, Guard{Token: secret, Hosts: []string{host}})
	first := askServer(h, http.MethodGet, "/api/v1/services", "Authorization", "Bearer "+secret)
	again := askServer(h, http.MethodGet, "/api/v1/services", "Authorization", "Bearer "+secret, "If-None-Match", first.Header().Get("ETag"))
	other := askServer(h, http.MethodGet, "/api/v1/services?offset=1", "Authorization", "Bearer "+secret, "If-None-Match", first.Header().Get("ETag"))
	if first.Code != http.StatusOK || again.Code != http.StatusNotModified || again.Body.Len() > 0 || other.Code != http.StatusOK {
		t.Errorf("the answers are %d, %d and %d", first.Code, again.Code, other.Code)
	}
}
