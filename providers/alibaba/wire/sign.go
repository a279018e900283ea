package wire

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the signature of RPC calls is HMAC-SHA1
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// signed returns the parameters of an RPC call with its signature.
// Source: Alibaba Cloud, "Request syntax and signature method V2 for RPC API".
func (s *Session) signed(c credentials, action, version string, params url.Values) url.Values {
	out := url.Values{
		"Action": {action}, "Version": {version}, "Format": {"JSON"}, "RegionId": {s.config.Region}, "Timestamp": {s.now().UTC().Format(time.RFC3339)},
		"SignatureMethod": {"HMAC-SHA1"}, "SignatureVersion": {"1.0"}, "SignatureNonce": {uuid.NewString()}, "AccessKeyId": {c.keyID},
	}
	if c.token != "" {
		out.Set("SecurityToken", c.token)
	}
	for name, values := range params {
		out[name] = values
	}
	mac := hmac.New(sha1.New, []byte(c.secret+"&"))
	_, _ = mac.Write([]byte("POST&%2F&" + encodeText(encodeParams(out)))) // a hash takes all
	out.Set("Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return out
}

// encodeParams returns parameters sorted by name and percent-encoded.
func encodeParams(params url.Values) string {
	return strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(params.Encode())
}

func encodeText(text string) string {
	return strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(url.QueryEscape(text))
}
