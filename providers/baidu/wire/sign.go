package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parts of a signature. Source: https://cloud.baidu.com/doc/Reference/s/njwvz1yfu, bce-auth-v1.
const (
	timeForm      = "2006-01-02T15:04:05Z"
	headerDate    = "X-Bce-Date"
	headerToken   = "X-Bce-Security-Token" //nolint:gosec // the name of a header
	signatureLife = 30 * time.Minute
)

// keys are the credentials of an account.
type keys struct{ id, secret, token string }

// sign adds the time, the session token and the signature to a request.
func (k keys) sign(r *http.Request, now time.Time) {
	stamp := now.UTC().Format(timeForm)
	r.Header.Set(headerDate, stamp)
	if k.token != "" {
		r.Header.Set(headerToken, k.token)
	}
	names, headers := signedHeaders(r)
	prefix := strings.Join([]string{"bce-auth-v1", k.id, stamp, strconv.Itoa(int(signatureLife.Seconds()))}, "/")
	canonical := strings.Join([]string{r.Method, escapePath(r.URL.Path), canonicalQuery(r.URL.Query()), strings.Join(headers, "\n")}, "\n")
	signature := hmacOf(hmacOf(k.secret, prefix), canonical)
	r.Header.Set("Authorization", strings.Join([]string{prefix, strings.Join(names, ";"), signature}, "/"))
}

// hmacOf returns the hexadecimal HMAC-SHA256 of a text.
func hmacOf(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write([]byte(text)) // a hash takes all
	return hex.EncodeToString(mac.Sum(nil))
}

// signedHeaders returns the names of the headers that are signed, and their canonical lines.
func signedHeaders(r *http.Request) (names, lines []string) {
	values := map[string]string{"host": r.URL.Host}
	for name := range r.Header {
		name = strings.ToLower(name)
		if name == "content-type" || strings.HasPrefix(name, "x-bce-") {
			values[name] = strings.TrimSpace(r.Header.Get(name))
		}
	}
	for name, value := range values {
		names = append(names, name)
		lines = append(lines, escapeText(name)+":"+escapeText(value))
	}
	slices.Sort(names)
	slices.Sort(lines)
	return names, lines
}

func canonicalQuery(query url.Values) string {
	var out []string
	for name, values := range query {
		for _, value := range values {
			out = append(out, escapeText(name)+"="+escapeText(value))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "&")
}

func escapePath(path string) string { return strings.ReplaceAll(escapeText(path), "%2F", "/") }

// escapeText encodes all bytes except letters, digits and -_.~.
func escapeText(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
