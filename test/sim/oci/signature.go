package oci

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// signature is the header Authorization. Source: API documentation, "Request Signatures".
type signature struct {
	keyID     string
	headers   []string
	signature []byte
}

func notAuthenticated(format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusUnauthorized, "NotAuthenticated", "The required information to complete authentication was not provided or was incorrect: "+format, args...)
}

// signatureField is one part of a signature: its name and its text.
var signatureField = regexp.MustCompile(`(\w+)="([^"]*)"`)

// readSignature takes the header apart.
func readSignature(header string) (signature, error) {
	text, ok := strings.CutPrefix(header, "Signature ")
	if !ok {
		return signature{}, notAuthenticated("the request is not signed")
	}
	fields := map[string]string{}
	for _, m := range signatureField.FindAllStringSubmatch(text, -1) {
		fields[m[1]] = m[2]
	}
	raw, err := base64.StdEncoding.DecodeString(fields["signature"])
	if err != nil || fields["keyId"] == "" || fields["algorithm"] != "rsa-sha256" || fields["version"] != "1" {
		return signature{}, notAuthenticated("the signature cannot be read")
	}
	return signature{fields["keyId"], strings.Fields(fields["headers"]), raw}, nil
}

// Trust makes a key known: requests in its name must be signed with it from now on.
func (c *Cloud) Trust(keyID string, key *rsa.PublicKey) {
	c.Locked(func() { c.keys[keyID] = key })
}

// authenticate refuses a call that is not signed as its key requires. An unregistered key is
// accepted, unless all must be registered.
func (v *visit) authenticate() error {
	s, err := readSignature(v.HTTP.Header.Get("Authorization"))
	if err != nil {
		if v.cloud.opt.RequireSignature {
			return err
		}
		return nil
	}
	key := v.cloud.keys[s.keyID]
	if token, is := strings.CutPrefix(s.keyID, "ST$"); is {
		session, ok := v.cloud.sessions[token]
		if !ok || !v.Time.Before(session.until) {
			return notAuthenticated("the token is not known, or has expired")
		}
		key, v.workload = session.key, session.who
		v.Request = map[string]string{"(workload)": v.workload} // sorts before all parameters
	}
	if key == nil && v.cloud.opt.RequireSignature {
		return notAuthenticated("the key %s is not known", s.keyID)
	}
	if key == nil {
		return nil
	}
	return v.verify(s, key)
}

// verify checks a signature, and that it covers what it must.
func (v *visit) verify(s signature, key *rsa.PublicKey) error {
	need := []string{"date", "(request-target)"}
	if !v.Open {
		need = append(need, "host")
	}
	if slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, v.HTTP.Method) {
		need = append(need, "content-length", "content-type", "x-content-sha256")
		sum := sha256.Sum256(v.Raw)
		if v.HTTP.Header.Get("X-Content-Sha256") != base64.StdEncoding.EncodeToString(sum[:]) {
			return notAuthenticated("x-content-sha256 is not that of the body")
		}
	}
	for _, name := range need {
		if !slices.Contains(s.headers, name) {
			return notAuthenticated("the header %s is not signed", name)
		}
	}
	var lines []string
	for _, name := range s.headers {
		value := v.HTTP.Header.Get(name)
		switch name {
		case "(request-target)":
			value = strings.ToLower(v.HTTP.Method) + " " + v.HTTP.URL.RequestURI()
		case "host":
			value = v.HTTP.Host
		case "content-length":
			value = strconv.Itoa(len(v.Raw))
		}
		lines = append(lines, name+": "+value)
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], s.signature) != nil {
		return notAuthenticated("the signature is wrong")
	}
	return nil
}
