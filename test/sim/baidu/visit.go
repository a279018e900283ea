package baidu

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

	"github.com/berth-lb/berth/test/sim/rest"
)

// visit is one call on its way through the simulator.
type visit struct {
	rest.Visit[*state]
	cloud *Cloud
}

// apiWords are what calls have in common. Source: https://cloud.baidu.com/doc/BLB/s/2jwvxnyvb.
func apiWords() rest.Words {
	return rest.Words{
		Unknown:   rest.Error{Status: http.StatusBadRequest, Code: "InvalidURI", Text: "Could not parse the specified URI."},
		Malformed: rest.Error{Status: http.StatusBadRequest, Code: "MalformedJSON", Text: "The JSON you provided was not well-formed."},
		TooFast:   rest.Error{Status: http.StatusTooManyRequests, Code: "RequestLimitExceeded", Text: "Too many requests."},
		Broken:    rest.Error{Status: http.StatusInternalServerError, Code: "InternalError", Text: "We encountered an internal error. Please try again."},
		Header:    "X-Bce-Request-Id",
		ID:        func(_ string, seq int) string { return hashOf("request " + strconv.Itoa(seq)) },
	}
}

// Envelope implements rest.Caller. A fault that names only a status gets the code that the cloud has for it.
func (v *visit) Envelope(r *rest.Error) rest.Answer {
	code := r.Code
	if code == "" {
		code = map[int]string{
			http.StatusBadRequest: "BadRequest", http.StatusForbidden: "AccessDenied", http.StatusNotFound: "NoSuchObject", http.StatusConflict: "LastOperationNotFinished",
			http.StatusTooManyRequests: "RequestLimitExceeded",
		}[r.Status]
	}
	if code == "" {
		code = "InternalError"
	}
	return rest.Answer{Status: r.Status, Code: code, Body: rest.Object{"requestId": hashOf(r.Text), "code": code, "message": r.Text}}
}

// The keys of the account.
const (
	accessKey = "simulatedaccesskey00000000000000"
	secretKey = "simulatedsecretkey00000000000000"
)

// longestSkew is how far the time of a call may be off.
const longestSkew = 30 * time.Minute

// Admit implements rest.Caller: calls are signed and allowed. Source: https://cloud.baidu.com/doc/Reference/s/njwvz1yfu.
func (v *visit) Admit() error {
	parts := strings.Split(v.HTTP.Header.Get("Authorization"), "/")
	if len(parts) != 6 || parts[0] != "bce-auth-v1" {
		return rest.Refuse(http.StatusBadRequest, "InvalidHTTPAuthHeader", "The HTTP authorization header is invalid.")
	}
	at, err := time.Parse("2006-01-02T15:04:05Z", parts[2])
	switch {
	case err != nil:
		return rest.Refuse(http.StatusBadRequest, "InvalidHTTPAuthHeader", "The time of the authorization is invalid.")
	case parts[1] != accessKey:
		return rest.Refuse(http.StatusForbidden, "InvalidAccessKeyId", "The Access Key ID you provided does not exist.")
	case time.Since(at).Abs() > longestSkew:
		return rest.Refuse(http.StatusBadRequest, "RequestExpired", "The request has expired.")
	case !slices.Contains(strings.Split(parts[4], ";"), "host"):
		return rest.Refuse(http.StatusBadRequest, "InvalidHTTPAuthHeader", "The host is not signed.")
	}
	key := digestOf([]byte(secretKey), strings.Join(parts[:4], "/"))
	if !hmac.Equal([]byte(digestOf([]byte(key), v.canonical(strings.Split(parts[4], ";")))), []byte(parts[5])) {
		return rest.Refuse(http.StatusForbidden, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")
	}
	return v.authorize()
}

func digestOf(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(text)) // a hash takes all
	return hex.EncodeToString(mac.Sum(nil))
}

// canonical returns the text that is signed: method, path, query and the signed headers.
func (v *visit) canonical(signed []string) string {
	path, _, _ := strings.Cut(v.HTTP.URL.Path, actionMark)
	var query, headers []string
	for name, values := range v.HTTP.URL.Query() {
		query = append(query, encodeText(name)+"="+encodeText(values[0]))
	}
	for _, name := range signed {
		value := v.HTTP.Header.Get(name)
		if name == "host" {
			value = v.HTTP.Host
		}
		headers = append(headers, encodeText(name)+":"+encodeText(strings.TrimSpace(value)))
	}
	slices.Sort(query)
	slices.Sort(headers)
	return strings.Join([]string{v.HTTP.Method, strings.ReplaceAll(encodeText(path), "%2F", "/"), strings.Join(query, "&"), strings.Join(headers, "\n")}, "\n")
}

// encodeText is the encoding of RFC 3986, which that of forms differs from in a space and an asterisk.
func encodeText(text string) string {
	return strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(url.QueryEscape(text))
}

func refuseValue(name, format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "InappropriateJSON", "%s: %s", name, fmt.Sprintf(format, args...))
}

func refuseMissing(what, id string) *rest.Error {
	return rest.Refuse(http.StatusNotFound, "NoSuchObject", "The %s %s does not exist.", what, id)
}

// numberOf returns a number; otherwise for an absent one.
func numberOf(o rest.Object, name string, otherwise int) int {
	if n, ok := o.Number(name); ok {
		return n
	}
	return otherwise
}

// showObject returns an object without what the API does not show.
func showObject(o rest.Object) rest.Object {
	out := o.Without(owner, inside, kindOf, family, made)
	if out.Text("blbId")+out.Text("eip")+out.Text("listenerType") != "" {
		out = out.Without("id", "servers") // these are known by other keys
	}
	if out.Text("eip") != "" {
		out["createTime"] = o.Text(made)
	}
	if out.Text("status") == deleting {
		out["status"] = updating
	}
	return out
}

// page answers one page of a list.
func (v *visit) page(name string, all []rest.Object) (any, error) {
	query := v.HTTP.URL.Query()
	most := v.cloud.opt.Limits.Page
	if text := query.Get("maxKeys"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return nil, refuseValue("maxKeys", "%q is not from 1 to 1000", text)
		}
		most = min(most, n)
	}
	from := 0
	if marker := query.Get("marker"); marker != "" {
		if from = slices.IndexFunc(all, func(o rest.Object) bool { return o.Text("id") == marker }); from < 0 {
			return nil, refuseValue("marker", "%q is not a page", marker)
		}
	}
	to := min(from+most, len(all))
	items := []any{}
	for _, o := range all[from:to] {
		items = append(items, showObject(o))
	}
	out := rest.Object{name: items, "maxKeys": most, "isTruncated": to < len(all), "marker": query.Get("marker"), "nextMarker": ""}
	if to < len(all) {
		out["nextMarker"] = all[to].Text("id")
	}
	return out, nil
}

// once answers a creating call with a token that was answered before with that answer.
func (v *visit) once(run func() (rest.Object, error)) (any, error) {
	token := v.HTTP.URL.Query().Get("clientToken")
	if earlier, used := v.State.Get(tokens, token); token != "" && used {
		v.Again = true
		v.Answer.Status, v.Answer.Body = http.StatusOK, earlier["answer"]
		return nil, nil
	}
	answer, err := run()
	if err == nil && token != "" {
		v.State.Put(tokens, rest.Object{"id": token, "answer": answer})
	}
	return answer, err
}
