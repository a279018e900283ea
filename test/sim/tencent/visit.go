package tencent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// visit is one call on its way through the simulator.
type visit struct {
	rest.Visit[*state]
	cloud *Cloud
}

// apiWords are what calls have in common. Source: Tencent Cloud API 3.0, common error codes.
func apiWords() rest.Words {
	return rest.Words{
		Unknown:   rest.Error{Status: http.StatusOK, Code: "InvalidAction", Text: "The request action is invalid."},
		Malformed: rest.Error{Status: http.StatusOK, Code: "InvalidParameter", Text: "The request body is not valid"},
		TooFast:   rest.Error{Status: http.StatusOK, Code: "RequestLimitExceeded", Text: "Your current request times equals to more than the limit per second."},
		Broken:    rest.Error{Status: http.StatusInternalServerError, Text: "An internal error has occurred. Retry your request."},
		Header:    "X-Sim-Call",
		ID:        func(_ string, seq int) string { return strconv.Itoa(seq) },
	}
}

// Envelope implements rest.Caller. Refusals have status 200; a fault that names only a status gets the
// code that the cloud has for it.
func (v *visit) Envelope(r *rest.Error) rest.Answer {
	code := r.Code
	if code == "" {
		code = map[int]string{
			http.StatusBadRequest: "InvalidParameter", http.StatusForbidden: "UnauthorizedOperation", http.StatusNotFound: "ResourceNotFound",
			http.StatusConflict: "FailedOperation.ResourceInOperating", http.StatusTooManyRequests: "RequestLimitExceeded",
		}[r.Status]
	}
	if code == "" {
		code = "InternalError"
	}
	return rest.Answer{Status: http.StatusOK, Code: code, Body: rest.Object{"Response": rest.Object{
		"Error": rest.Object{"Code": code, "Message": r.Text}, "RequestId": hashOf(r.Text),
	}}}
}

// Admit implements rest.Caller: calls name a region and are signed.
func (v *visit) Admit() error {
	switch {
	case v.Service == apiSTS:
	case v.region() == "":
		return refuseCall("MissingParameter", "The request is missing a required parameter Region.")
	case v.region() != v.cloud.opt.Region && !slices.Contains(otherRegions(), v.region()):
		return refuseCall("UnsupportedRegion", "The region %s is not supported.", v.region())
	}
	if err := v.verify(); err != nil {
		return err
	}
	return v.authorize()
}

// region returns the region of the call.
func (v *visit) region() string { return v.HTTP.Header.Get("X-TC-Region") }

// otherRegions are the regions in which the account has networks and no machines.
func otherRegions() []string { return []string{"ap-chongqing", "ap-shanghai"} }

// The keys of the account.
const (
	secretID  = "AKIDsimulatedSecretId0000000000000000"
	secretKey = "simulatedSecretKey00000000000000"
)

// longestSkew is how far the time of a call may be off. Source: Tencent Cloud API 3.0, signature v3.
const longestSkew = 5 * time.Minute

func signText(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(text)) // a hash takes all
	return mac.Sum(nil)
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// verify checks the signature. Source: Tencent Cloud API 3.0, signature v3.
func (v *visit) verify() error {
	header := v.HTTP.Header
	stamp := header.Get("X-TC-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return refuseCall("MissingParameter", "The request is missing a required parameter Timestamp.")
	}
	if at := time.Unix(seconds, 0); time.Since(at).Abs() > longestSkew {
		return refuseCall("AuthFailure.SignatureExpire", "The provided signature has expired.")
	}
	date := time.Unix(seconds, 0).UTC().Format("2006-01-02")
	scope := date + "/" + v.Service + "/tc3_request"
	request := strings.Join([]string{
		v.HTTP.Method, "/", "", "content-type:" + header.Get("Content-Type") + "\nhost:" + v.HTTP.Host + "\n", "content-type;host", digestOf(string(v.Raw)),
	}, "\n")
	key := signText(signText(signText([]byte("TC3"+secretKey), date), v.Service), "tc3_request")
	signature := hex.EncodeToString(signText(key, strings.Join([]string{"TC3-HMAC-SHA256", stamp, scope, digestOf(request)}, "\n")))
	given := header.Get("Authorization")
	if !strings.Contains(given, "Credential="+secretID+"/") {
		return refuseCall("AuthFailure.SecretIdNotFound", "The SecretId is not found.")
	}
	want := fmt.Sprintf("TC3-HMAC-SHA256 Credential=%s/%s, SignedHeaders=content-type;host, Signature=%s", secretID, scope, signature)
	if !hmac.Equal([]byte(given), []byte(want)) {
		return refuseCall("AuthFailure.SignatureFailure", "The provided credentials could not be validated.")
	}
	return nil
}

// refuseCall returns a refusal, which has status 200.
func refuseCall(code, format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusOK, code, format, args...)
}

func refuseValue(name, format string, args ...any) *rest.Error {
	return refuseCall("InvalidParameterValue", "The value of %s is not valid: %s", name, fmt.Sprintf(format, args...))
}

// answer returns the answer of a call with its values.
func (v *visit) answer(values rest.Object) rest.Object {
	return rest.Object{"Response": rest.Object{"RequestId": v.State.requestID()}.With(values)}
}

// numberOf returns a parameter; otherwise for an absent one.
func numberOf(o rest.Object, name string, otherwise int) int {
	if n, ok := o.Number(name); ok {
		return n
	}
	return otherwise
}

// numbersOf returns the numbers of a list.
func numbersOf(o rest.Object, name string) []int {
	var out []int
	for i := range o.List(name) {
		n, _ := rest.Object{"n": o.List(name)[i]}.Number("n")
		out = append(out, n)
	}
	return out
}
