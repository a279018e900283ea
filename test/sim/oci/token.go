package oci

import (
	"crypto/sha256"
	"maps"
	"net/http"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// tokenAge is how long a retry token is known. Source: API reference, opc-retry-token.
const tokenAge = 24 * time.Hour

// seen is what a retry token was used for.
type seen struct {
	until   time.Time
	call    string
	body    [sha256.Size]byte
	created [2]string // collection and identifier
	answer  rest.Answer
}

// runOnce runs a call whose retry token is not known yet, and repeats the response for a known
// one. It refuses a token that has been used for another call, or whose object is deleted.
// Source: API reference, error 409 InvalidatedRetryToken.
func runOnce(status int, run func(*visit) (any, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		if old, known := v.cloud.tokens[v.token()]; known && !v.Time.After(old.until) {
			return nil, v.again(old)
		}
		result, err := run(v)
		if err == nil {
			v.Answer.Status, v.Answer.Body = status, result
			v.remember()
		}
		return result, err
	}
}

// again answers what a token was used for.
func (v *visit) again(old seen) error {
	there := true
	if old.created[0] != "" {
		_, there = v.State.Get(old.created[0], old.created[1])
	}
	if !there || old.call != v.call() || old.body != sha256.Sum256(v.Raw) {
		return rest.Refuse(http.StatusConflict, "InvalidatedRetryToken", "The retry token was used for a request that cannot be repeated")
	}
	v.Answer, v.Again = old.answer, true
	return nil
}

// token is the retry token of a writing call, with the operation that it is for: the
// official controller gives a group and a load balancer the same. Empty if there is none.
func (v *visit) token() string {
	token := v.HTTP.Header.Get("Opc-Retry-Token")
	if token == "" {
		return ""
	}
	return v.Service + "." + v.Operation + " " + token
}

func (v *visit) call() string { return v.HTTP.Method + " " + v.HTTP.URL.RequestURI() }

// remember keeps the answer of a call that had a retry token.
func (v *visit) remember() {
	if v.token() == "" {
		return
	}
	maps.DeleteFunc(v.cloud.tokens, func(_ string, s seen) bool { return v.Time.After(s.until) })
	v.cloud.tokens[v.token()] = seen{v.Time.Add(tokenAge), v.call(), sha256.Sum256(v.Raw), v.created, v.Answer}
}
