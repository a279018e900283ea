package alibaba

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

const acs3 = "ACS3-HMAC-SHA256"

// verifyHeaders checks the access key and the signature in the headers of a call.
// Source: Alibaba Cloud, "Request syntax and signature method V3".
func (v *visit) verifyHeaders() error {
	parts := map[string]string{}
	for item := range strings.SplitSeq(strings.TrimPrefix(v.HTTP.Header.Get("Authorization"), acs3+" "), ",") {
		name, value, _ := strings.Cut(item, "=")
		parts[name] = value
	}
	secret, err := v.secretOf(parts["Credential"], v.HTTP.Header.Get("X-Acs-Security-Token"))
	if err != nil {
		return err
	}
	digest := sha256.Sum256(v.Raw)
	names := strings.Split(parts["SignedHeaders"], ";")
	var pairs, headers []string
	query := v.HTTP.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		pairs = append(pairs, encodeText(name)+"="+encodeText(query.Get(name)))
	}
	for _, name := range names {
		value := v.HTTP.Header.Get(name)
		if name == "host" {
			value = v.HTTP.Host
		}
		headers = append(headers, name+":"+strings.TrimSpace(value)+"\n")
	}
	request := strings.Join([]string{v.HTTP.Method, "/", strings.Join(pairs, "&"), strings.Join(headers, ""), parts["SignedHeaders"], hex.EncodeToString(digest[:])}, "\n")
	sum := sha256.Sum256([]byte(request))
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(acs3 + "\n" + hex.EncodeToString(sum[:]))) // a hash takes all
	signed := slices.Contains(names, "host") && slices.Contains(names, "x-acs-date") && slices.Contains(names, "x-acs-signature-nonce") && slices.Contains(names, "x-acs-action")
	if !signed || v.HTTP.Header.Get("X-Acs-Content-Sha256") != hex.EncodeToString(digest[:]) || !hmac.Equal([]byte(parts["Signature"]), []byte(hex.EncodeToString(mac.Sum(nil)))) {
		return rest.Refuse(http.StatusBadRequest, "SignatureDoesNotMatch", "Specified signature is not matched with our calculation.")
	}
	return nil
}
