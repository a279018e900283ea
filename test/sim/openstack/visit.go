package openstack

import (
	"math"
	"net/http"
	"strconv"

	"github.com/berth-lb/berth/test/sim/rest"
)

// visit is one call on its way through the simulator. What one that breaks does ends in
// ERROR.
type visit struct {
	rest.Visit[*state]
	cloud *Cloud
}

// newWords returns what the APIs have in common.
func newWords() rest.Words {
	return rest.Words{
		Unknown:   rest.Error{Status: http.StatusNotFound, Code: "HTTPNotFound", Text: "The resource could not be found."},
		Malformed: rest.Error{Status: http.StatusBadRequest, Code: "HTTPBadRequest", Text: "malformed JSON in the body"},
		TooFast:   rest.Error{Status: http.StatusTooManyRequests, Code: "OverLimit", Text: "This request was rate-limited."},
		Broken:    rest.Error{Status: http.StatusInternalServerError, Text: "An unknown exception occurred."},
		Secret:    map[string]bool{"auth": true},
		Header:    "X-Openstack-Request-Id",
		ID:        func(_ string, seq int) string { return "req-" + idOf(strconv.Itoa(seq)) },
	}
}

// Admit implements rest.Caller: by token and access rules.
func (v *visit) Admit() error {
	if !v.Open && !v.cloud.knows(v.HTTP.Header.Get("X-Auth-Token"), v.Time) {
		return rest.Refuse(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication.")
	}
	return v.mayCall()
}

// Envelope implements rest.Caller.
// Source of the rate's: sapcc/openstack-rate-limit-middleware, its default response.
func (v *visit) Envelope(r *rest.Error) rest.Answer {
	out := rest.Answer{Status: r.Status, Code: r.Code, Body: v.body(r)}
	if out.Code == "" {
		out.Code = strconv.Itoa(r.Status)
	}
	switch {
	case r.Page != "":
		out.Body = []byte(r.Page)
	case r.Wait > 0:
		out.Body = Object{"overLimit": Object{"code": r.Status, "message": r.Text}}
		out.Header = http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(r.Wait.Seconds())))}}
	}
	return out
}
