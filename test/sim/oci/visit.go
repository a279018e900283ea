package oci

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// visit is one call on its way through the simulator. One that breaks has a work request
// that fails.
type visit struct {
	rest.Visit[*state]
	cloud    *Cloud
	created  [2]string // collection and identifier of what was made or changed
	workload string    // namespace and name of the ServiceAccount that calls; empty: none does
}

// newWords returns what the APIs have in common. Source: API reference, "API Errors".
func newWords() rest.Words {
	return rest.Words{
		Unknown:   rest.Error{Status: http.StatusNotFound, Code: "NotFound", Text: "No operation is supported at this address"},
		Malformed: rest.Error{Status: http.StatusBadRequest, Code: "CannotParseRequest", Text: "Incorrectly formatted request"},
		TooFast:   rest.Error{Status: http.StatusTooManyRequests, Code: "TooManyRequests", Text: "Too many requests for the user"},
		Broken:    rest.Error{Status: http.StatusInternalServerError, Code: "InternalServerError", Text: "Internal error occurred"},
		Secret:    map[string]bool{"privateKey": true, "passphrase": true, "publicKey": true, "podKey": true},
		Header:    "Opc-Request-Id",
		ID:        requestID,
	}
}

// requestID is an answer's name, which begins with the one that the caller gave.
func requestID(asked string, seq int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(seq)))
	own := strings.ToUpper(hex.EncodeToString(sum[:16]))
	if asked == "" {
		return own
	}
	return asked + "/" + own
}

// Admit implements rest.Caller: by signature and policy.
func (v *visit) Admit() error {
	if !v.Open {
		if err := v.authenticate(); err != nil {
			return err
		}
	}
	return v.mayCall()
}

// Envelope implements rest.Caller.
func (v *visit) Envelope(r *rest.Error) rest.Answer {
	return rest.Answer{Status: r.Status, Code: r.Code, Body: rest.Object{"code": r.Code, "message": r.Text}}
}
