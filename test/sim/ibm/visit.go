package ibm

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// visit is one call on its way through the simulator.
type visit struct {
	rest.Visit[*state]
	cloud *Cloud
}

// apiWords are what the APIs have in common. Source: VPC API reference, "Error handling".
func apiWords() rest.Words {
	return rest.Words{
		Unknown:   rest.Error{Status: http.StatusNotFound, Code: "not_found", Text: "The requested path was not found"},
		Malformed: rest.Error{Status: http.StatusBadRequest, Code: "invalid_value", Text: "The request body is not valid JSON"},
		TooFast:   rest.Error{Status: http.StatusTooManyRequests, Code: "over_rate_limit", Text: "Too many requests"},
		Broken:    rest.Error{Status: http.StatusInternalServerError, Code: "internal_error", Text: "An internal error occurred"},
		Secret:    map[string]bool{"apikey": true, "cr_token": true, "access_token": true},
		Header:    "X-Request-Id",
		ID:        func(_ string, seq int) string { return idOf("request " + strconv.Itoa(seq))[5:] },
	}
}

// Admit implements rest.Caller: calls need a token of IAM, and those of the VPC API a version
// and a generation. Source: VPC API reference, "Versioning".
func (v *visit) Admit() error {
	if v.cloud.opt.RequireToken && !v.Open && v.HTTP.Header.Get("Authorization") != "Bearer "+accessToken() {
		return rest.Refuse(http.StatusUnauthorized, "not_authenticated", "The provided token is not valid or has expired")
	}
	if err := v.mayCall(); err != nil {
		return err
	}
	query := v.HTTP.URL.Query()
	if v.Service == apiVPC && (query.Get("version") == "" || query.Get("generation") != "2") {
		return refuseInvalid("version", "version and generation=2 are required")
	}
	return nil
}

// Envelope implements rest.Caller.
func (v *visit) Envelope(r *rest.Error) rest.Answer {
	if v.Service == apiIAM {
		return rest.Answer{Status: r.Status, Code: r.Code, Body: rest.Object{"errorCode": r.Code, "errorMessage": r.Text, "context": rest.Object{}}}
	}
	problem := rest.Object{"code": r.Code, "message": r.Text, "more_info": "https://cloud.ibm.com/docs/vpc?topic=vpc-error-messages"}
	return rest.Answer{Status: r.Status, Code: r.Code, Body: rest.Object{"errors": []any{problem}, "trace": idOf(r.Text)[5:]}}
}

func refuseInvalid(field, format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "validation_failed", "%s: %s", field, fmt.Sprintf(format, args...))
}

func refuseMissing(what, id string) *rest.Error {
	return rest.Refuse(http.StatusNotFound, what+"_not_found", "The %s with ID %s could not be found", strings.ReplaceAll(what, "_", " "), id)
}

func overQuota(what string, limit int) *rest.Error {
	return rest.Refuse(http.StatusForbidden, "over_quota", "The quota of %d %s is exceeded", limit, what)
}

// maxPage is the most objects of a page. Source: VPC API reference, "Pagination".
const maxPage = 100

// page answers one page of a list.
func (v *visit) page(key string, all []rest.Object) (any, error) {
	query := v.HTTP.URL.Query()
	limit := v.cloud.opt.Page
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return nil, refuseInvalid("limit", "%q is not between 1 and %d", text, maxPage)
		}
		limit = n
	}
	from := 0
	if start := query.Get("start"); start != "" {
		if from = slices.IndexFunc(all, func(o rest.Object) bool { return o.Text("id") == start }); from < 0 {
			return nil, refuseInvalid("start", "%q is not a page", start)
		}
	}
	to := min(from+limit, len(all))
	link := func(start string) rest.Object {
		values := url.Values{"limit": {strconv.Itoa(limit)}}
		if start != "" {
			values.Set("start", start)
		}
		return rest.Object{"href": v.href(strings.TrimPrefix(v.HTTP.URL.Path, "/v1/")) + "?" + values.Encode()}
	}
	items := []any{}
	for _, o := range all[from:to] {
		items = append(items, o)
	}
	out := rest.Object{key: items, "limit": limit, "total_count": len(all), "first": link("")}
	if to < len(all) {
		out["next"] = link(all[to].Text("id"))
	}
	return out, nil
}

// href returns the address of a thing of the VPC API.
func (v *visit) href(path ...string) string {
	return fmt.Sprintf("https://%s.iaas.cloud.ibm.com/v1/%s", v.cloud.opt.Region, strings.Join(path, "/"))
}
