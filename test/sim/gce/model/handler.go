package model

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Finder names the method of an HTTP call, empty for calls of something else.
type Finder func(r *http.Request) string

// Handler checks every successful answer on its way, and reports what is not as
// the API is described.
func (m *Model) Handler(t testing.TB, next http.Handler, find Finder) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := find(r)
		if id == "" {
			next.ServeHTTP(w, r)
			return
		}
		recorder := httptest.NewRecorder()
		next.ServeHTTP(recorder, r)
		m.answer(t, id, recorder)
		for name, values := range recorder.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorder.Code)
		if _, err := w.Write(recorder.Body.Bytes()); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	})
}

func (m *Model) answer(t testing.TB, id string, r *httptest.ResponseRecorder) {
	t.Helper()
	method := m.Method(id)
	if method == nil {
		t.Errorf("%s: the API has no such method", id)
		return
	}
	if r.Code != http.StatusOK || method.Response == nil {
		return
	}
	var body any
	if err := json.Unmarshal(r.Body.Bytes(), &body); err != nil {
		t.Errorf("%s: %v", id, err)
		return
	}
	for _, problem := range m.Check(method.Response, body, id) {
		t.Error(problem)
	}
}
