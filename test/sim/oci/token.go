package oci

import (
	"crypto/sha256"
	"maps"
	"net/http"
	"time"
)

// tokenAge is how long a retry token is known. Source: API reference, opc-retry-token.
const tokenAge = 24 * time.Hour

// seen is what a retry token was used for.
type seen struct {
	until   time.Time
	call    string
	body    [sha256.Size]byte
	created [2]string // collection and identifier
	answer  answer
}

// repeated answers a call again whose retry token is known. It refuses one that has been
// used for something else, or whose object is gone.
// Source: API reference, error 409 InvalidatedRetryToken.
func (v *visit) repeated() (bool, error) {
	old, known := v.cloud.tokens[v.token()]
	if !known || v.at.After(old.until) {
		return false, nil
	}
	there := true
	if old.created[0] != "" {
		_, there = v.cloud.state.Get(old.created[0], old.created[1])
	}
	if !there || old.call != v.call() || old.body != sha256.Sum256(v.raw) {
		return false, refuse(http.StatusConflict, "InvalidatedRetryToken", "The retry token was used for a request that cannot be repeated")
	}
	v.answer = old.answer
	return true, nil
}

// token is the retry token of a writing call, with the operation that it is for: the
// official controller gives a group and a load balancer the same. Empty if there is none.
func (v *visit) token() string {
	token := v.http.Header.Get("Opc-Retry-Token")
	if token == "" || !v.route.write {
		return ""
	}
	return v.route.api + "." + v.route.name + " " + token
}

func (v *visit) call() string { return v.http.Method + " " + v.http.URL.RequestURI() }

// remember keeps the answer of a call that had a retry token.
func (v *visit) remember() {
	if v.token() == "" {
		return
	}
	maps.DeleteFunc(v.cloud.tokens, func(_ string, s seen) bool { return v.at.After(s.until) })
	v.cloud.tokens[v.token()] = seen{v.at.Add(tokenAge), v.call(), sha256.Sum256(v.raw), v.created, v.answer}
}
