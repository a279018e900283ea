package alibaba

import (
	"crypto/hmac"
	"crypto/sha1" // of the signature of RPC calls
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// The access key of the account.
const (
	accessKeyID     = "LTAI5tSimulatedAccessKey"
	accessKeySecret = "simulated-secret-of-the-access-key"
)

// unreserved are the bytes that the encoding leaves as they are.
const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~"

// encodeText percent-encodes a text byte by byte.
func encodeText(text string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(text) {
		if b := text[i]; strings.IndexByte(unreserved, b) >= 0 {
			out.WriteByte(b)
		} else {
			out.WriteString("%" + string(digits[b>>4]) + string(digits[b&15]))
		}
	}
	return out.String()
}

// verify checks the access key and the signature.
// Source: Alibaba Cloud, "Request syntax and signature method V2 for RPC API".
func (v *visit) verify() error {
	secret, err := v.secretOf(v.text("AccessKeyId"), v.text("SecurityToken"))
	if err != nil {
		return err
	}
	want := signatureOf(v.HTTP.Method, v.query, secret)
	if v.text("SignatureMethod") != "HMAC-SHA1" || v.text("SignatureVersion") != "1.0" || v.text("SignatureNonce") == "" || v.text("Timestamp") == "" ||
		!hmac.Equal([]byte(v.text("Signature")), []byte(want)) {
		return rest.Refuse(http.StatusBadRequest, "SignatureDoesNotMatch", "Specified signature is not matched with our calculation.")
	}
	return nil
}

// signatureOf returns the signature of parameters.
func signatureOf(method string, query url.Values, secret string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if name != "Signature" {
			pairs = append(pairs, encodeText(name)+"="+encodeText(query.Get(name)))
		}
	}
	mac := hmac.New(sha1.New, []byte(secret+"&"))
	_, _ = mac.Write([]byte(method + "&" + encodeText("/") + "&" + encodeText(strings.Join(pairs, "&")))) // a hash takes all
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Sign returns the query of a call with the access key of the account.
func (s Seed) Sign(params url.Values) string {
	query := maps.Clone(params)
	for name, value := range map[string]string{
		"RegionId": s.Region, "Format": "JSON", "Timestamp": "2026-01-01T00:00:00Z", "SignatureMethod": "HMAC-SHA1", "SignatureVersion": "1.0", "SignatureNonce": "1", "AccessKeyId": accessKeyID,
	} {
		query.Set(name, value)
	}
	query.Set("Signature", signatureOf(http.MethodPost, query, accessKeySecret))
	return query.Encode()
}
