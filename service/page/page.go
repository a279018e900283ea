package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack/plan"
)

// files are the page, its style and the bundled script.
//
//go:embed dist
var files embed.FS

// Source returns the documents.
type Source interface {
	// Fleet returns the state of every Service according to the cluster.
	Fleet(ctx context.Context) (view.Fleet, error)
	// Planned returns the same with the impact of every plan, for which the cloud is read.
	Planned(ctx context.Context) (view.Fleet, error)
	// Service returns one Service with all its details.
	Service(ctx context.Context, namespace, name string) (view.Service, error)
	// Plan returns the plan of all Services.
	Plan(ctx context.Context) (plan.Document, error)
	// Shared returns the resources that several Services may use.
	Shared(ctx context.Context) (view.Shared, error)
}

// Guard decides which requests are answered.
type Guard struct {
	// Token is what the page sends with each request for a document.
	Token string
	// Hosts are the legal values of the Host header. A page of another site that resolves its own
	// name to this address sends another one.
	Hosts []string
}

// admit returns the source for the user with the token.
func (g Guard) admit(source Source) Admit {
	return func(r *http.Request) (Source, error) {
		if subtle.ConstantTimeCompare([]byte(Bearer(r)), []byte(g.Token)) != 1 || g.Token == "" {
			return nil, &RefusalError{http.StatusUnauthorized, "the token is missing or wrong: open the address that the command has printed"}
		}
		return source, nil
	}
}

// Admit returns the documents that the user of a request may read. A [RefusalError] is an error with a
// status.
type Admit func(r *http.Request) (Source, error)

// RefusalError is the reason why a request for a document is not answered.
type RefusalError struct {
	Status int
	Text   string
}

func (r *RefusalError) Error() string { return r.Text }

// TokenHeader is the header for the token of a user behind the service proxy of the API server, which
// removes Authorization from the requests that it forwards. No browser sends either by itself.
const TokenHeader = "Berth-Token"

// Bearer returns the token of a request; empty: it has none.
func Bearer(r *http.Request) string {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return r.Header.Get(TokenHeader)
	}
	return token
}

// The number of Services in one answer.
const (
	defaultLimit = 1000
	maxLimit     = 1000
)

// policy allows the page only its own files and documents.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// New returns the handler of the page and its documents for one user.
func New(source Source, guard Guard) http.Handler {
	s := &server{admit: guard.admit(source), serves: func(host string) bool { return slices.Contains(guard.Hosts, host) }}
	return s.handler()
}

// NewForUsers returns the handler for many users, under any name: each request for a document has
// the token of its user, which no browser sends by itself.
func NewForUsers(admit Admit) http.Handler {
	s := &server{admit: admit, serves: func(string) bool { return true }}
	return s.handler()
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serveFile("index.html", "text/html; charset=utf-8"))
	mux.HandleFunc("GET /app.js", s.serveFile("app.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /app.css", s.serveFile("app.css", "text/css; charset=utf-8"))
	mux.HandleFunc("GET /licenses.txt", s.serveFile("licenses.txt", "text/plain; charset=utf-8"))
	mux.HandleFunc("GET /api/v1/services", s.document(readFleet))
	mux.HandleFunc("GET /api/v1/services/{namespace}/{name}", s.document(func(r *http.Request, from Source) (any, error) {
		return from.Service(r.Context(), r.PathValue("namespace"), r.PathValue("name"))
	}))
	mux.HandleFunc("GET /api/v1/plan", s.document(func(r *http.Request, from Source) (any, error) { return from.Plan(r.Context()) }))
	mux.HandleFunc("GET /api/v1/shared", s.document(func(r *http.Request, from Source) (any, error) { return from.Shared(r.Context()) }))
	return s.protect(mux)
}

type server struct {
	admit  Admit
	serves func(host string) bool
}

// protect refuses other hosts and methods, and sets the headers of every answer.
func (s *server) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !s.serves(r.Host):
			writeError(w, http.StatusMisdirectedRequest, fmt.Sprintf("the Host header %q is not that of this server", r.Host))
		case r.Method != http.MethodGet:
			h.Set("Allow", http.MethodGet)
			writeError(w, http.StatusMethodNotAllowed, "only GET is served")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (s *server) serveFile(name, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		body, err := fs.ReadFile(files, "dist/"+name)
		if err != nil {
			writeError(w, http.StatusNotFound, name+" is not part of this program")
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(body) // the browser has closed the connection
	}
}

// document answers with JSON and its digest, or that it has not changed.
func (s *server) document(read func(*http.Request, Source) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, err := s.admit(r)
		if err != nil {
			writeError(w, statusOf(err), err.Error())
			return
		}
		value, err := read(r, from)
		if err != nil {
			writeError(w, statusOf(err), err.Error())
			return
		}
		var body bytes.Buffer
		if err := json.NewEncoder(&body).Encode(value); err != nil {
			writeError(w, http.StatusInternalServerError, err.Error())
			return
		}
		sum := sha256.Sum256(body.Bytes())
		tag := `"` + hex.EncodeToString(sum[:16]) + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body.Bytes()) // the browser has closed the connection
	}
}

// errQuery means that a parameter of the request is not legal.
var errQuery = errors.New("is no legal value")

func statusOf(err error) int {
	var refusal *RefusalError
	switch {
	case errors.As(err, &refusal):
		return refusal.Status
	case errors.Is(err, view.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, errQuery):
		return http.StatusBadRequest
	}
	return http.StatusBadGateway
}

func writeError(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text}) // the browser has closed the connection
}

// readFleet returns a part of all Services; with planned=1 each with the impact of its plan.
func readFleet(r *http.Request, from Source) (any, error) {
	offset, err := readNumber(r, "offset", 0)
	if err != nil {
		return nil, err
	}
	limit, err := readNumber(r, "limit", defaultLimit)
	if err != nil {
		return nil, err
	}
	read := from.Fleet
	if r.URL.Query().Get("planned") == "1" {
		read = from.Planned
	}
	all, err := read(r.Context())
	return all.Cut(offset, min(limit, maxLimit)), err
}

func readNumber(r *http.Request, name string, missing int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s: %q %w; legal is a number from 0 on", name, text, errQuery)
	}
	return n, nil
}
