package alibaba

import (
	"crypto/hmac"
	"crypto/sha1" // of the signature of RPC calls
	"encoding/base64"
	"maps"
	"net/http"
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
	if v.text("AccessKeyId") != accessKeyID {
		return rest.Refuse(http.StatusNotFound, "InvalidAccessKeyId.NotFound", "Specified access key is not found.")
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(v.query)) {
		if name != "Signature" {
			pairs = append(pairs, encodeText(name)+"="+encodeText(v.query.Get(name)))
		}
	}
	mac := hmac.New(sha1.New, []byte(accessKeySecret+"&"))
	_, _ = mac.Write([]byte(v.HTTP.Method + "&" + encodeText("/") + "&" + encodeText(strings.Join(pairs, "&")))) // a hash takes all
	want := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if v.text("SignatureMethod") != "HMAC-SHA1" || v.text("SignatureVersion") != "1.0" || v.text("SignatureNonce") == "" || v.text("Timestamp") == "" ||
		!hmac.Equal([]byte(v.text("Signature")), []byte(want)) {
		return rest.Refuse(http.StatusBadRequest, "SignatureDoesNotMatch", "Specified signature is not matched with our calculation.")
	}
	return nil
}
