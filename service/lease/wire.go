package lease

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// Wrap returns a transport to the API server that shows the fence the renewals of the
// Lease. After the process has led it refuses all other writes while the fence is closed.
func (f *Fence) Wrap(next http.RoundTripper) http.RoundTripper { return &wire{fence: f, next: next} }

type wire struct {
	fence *Fence
	next  http.RoundTripper
}

// collection is how the path of the Leases of a namespace ends.
func (f *Fence) collection() string { return "/namespaces/" + f.options.Namespace + "/leases" }

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	f := w.fence
	path := r.URL.Path
	if !strings.HasSuffix(path, f.collection()) && !strings.HasSuffix(path, f.collection()+"/"+f.options.Name) {
		if isGuarded(r) && f.Held() {
			if err := f.Err(); err != nil {
				return nil, fmt.Errorf("not sent: %w", err)
			}
		}
		return w.next.RoundTrip(r)
	}
	sent := f.options.Now()
	response, err := w.next.RoundTrip(r)
	if err != nil {
		return response, err
	}
	switch {
	case response.StatusCode < http.StatusMultipleChoices:
		named, holder := holderIn(response)
		switch {
		case named != f.options.Name:
		case r.Method == http.MethodGet:
			f.see(holder)
		case r.Method == http.MethodDelete:
		default:
			f.renew(sent, holder)
		}
	case response.StatusCode == http.StatusConflict && r.Method != http.MethodGet:
		f.suspect()
	}
	return response, nil
}

// isGuarded reports whether a request is a write that only the leader makes. Reviews of
// tokens and rights write nothing.
func isGuarded(r *http.Request) bool {
	switch r.Method {
	case http.MethodPut, http.MethodPatch, http.MethodPost, http.MethodDelete:
	default:
		return false
	}
	return !strings.HasPrefix(r.URL.Path, "/apis/authentication.k8s.io/") && !strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/")
}

// holderIn reads the name and the holder of the Lease in an answer, and leaves the answer
// as it was. No name: the answer is no Lease, such as a watch.
func holderIn(response *http.Response) (name, holder string) {
	if response.Request != nil && response.Request.URL.Query().Get("watch") != "" {
		return "", ""
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // all of it was read, or the error is handed on
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
		return "", ""
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return "", ""
	}
	found, ok := object.(*coordinationv1.Lease)
	if !ok {
		return "", ""
	}
	if found.Spec.HolderIdentity != nil {
		holder = *found.Spec.HolderIdentity
	}
	return found.Name, holder
}

// failing returns an error to the reader behind what was read before.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }
