package alibaba

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// visit is one call on its way through the simulator.
type visit struct {
	rest.Visit[*state]
	cloud *Cloud
	query url.Values
}

// apiWords are what calls have in common. Source: API of SLB, public error codes.
func apiWords() rest.Words {
	return rest.Words{
		Unknown:   rest.Error{Status: http.StatusNotFound, Code: "InvalidAction.NotFound", Text: "Specified api is not found, please check your url and method."},
		Malformed: rest.Error{Status: http.StatusBadRequest, Code: "InvalidParameter", Text: "The request body is not valid"},
		TooFast:   rest.Error{Status: http.StatusBadRequest, Code: "Throttling.User", Text: "Request was denied due to user flow control."},
		Broken:    rest.Error{Status: http.StatusInternalServerError, Code: "InternalError", Text: "The request processing has failed due to some unknown error."},
		Secret:    map[string]bool{"OIDCToken": true, "SecurityToken": true},
		Header:    "X-Acs-Request-Id",
		ID:        func(_ string, seq int) string { return strings.ToUpper(hashOf("request " + strconv.Itoa(seq))) },
	}
}

// Admit implements rest.Caller: calls are of the API's version, for the region, and signed.
func (v *visit) Admit() error {
	if v.Service == apiSTS { // the token is the proof
		return nil
	}
	if form, err := url.ParseQuery(string(v.Raw)); err == nil && v.Service == apiNLB { // writes have a form, reads a query
		maps.Copy(v.query, form)
	}
	verify := v.verify
	if strings.HasPrefix(v.HTTP.Header.Get("Authorization"), acs3) {
		verify = v.verifyHeaders
	}
	if err := verify(); err != nil {
		return err
	}
	// The host of the NLB API has the region already, so its own client sends none with most calls.
	if region := v.text("RegionId"); region != v.cloud.opt.Region && (region != "" || v.Service != apiNLB) {
		return rest.Refuse(http.StatusNotFound, "InvalidRegionId.NotFound", "The specified RegionId does not exist.")
	}
	return v.authorize()
}

// Envelope implements rest.Caller.
func (v *visit) Envelope(r *rest.Error) rest.Answer {
	return rest.Answer{Status: r.Status, Code: r.Code, Body: rest.Object{
		"RequestId": strings.ToUpper(hashOf(r.Text)), "HostId": "slb.aliyuncs.com", "Code": r.Code, "Message": r.Text, "Recommend": "https://api.aliyun.com/troubleshoot?q=" + r.Code,
	}}
}

// text returns a parameter; empty: it is absent.
func (v *visit) text(name string) string { return v.query.Get(name) }

// number returns a parameter; 0: it is absent or no number.
func (v *visit) number(name string) int {
	n, _ := strconv.Atoi(v.text(name))
	return n
}

// members returns the values of a repeated parameter.
func (v *visit) members(name string) []string {
	var out []string
	for n := 1; v.query.Has(name + "." + strconv.Itoa(n)); n++ {
		out = append(out, v.text(name+"."+strconv.Itoa(n)))
	}
	return out
}

func refuseInvalid(name, format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "InvalidParameter", "The specified parameter %s is not valid: %s", name, fmt.Sprintf(format, args...))
}

func refuseMissing(what, id string) *rest.Error {
	return rest.Refuse(http.StatusNotFound, "Invalid"+what+".NotFound", "The specified %s does not exist: %s", what, id)
}

// answerDone answers a write that returns nothing.
func answerDone(values rest.Object) rest.Object {
	return rest.Object{"RequestId": strings.ToUpper(hashOf("done"))}.With(values)
}

// page answers one page of a list.
func (v *visit) page(all []rest.Object) ([]any, rest.Object, error) {
	number, size := max(v.number("PageNumber"), 1), v.number("PageSize")
	if size == 0 {
		size = 10
	}
	if size > mostPage {
		return nil, nil, refuseInvalid("PageSize", "%d is more than %d", size, mostPage)
	}
	items := []any{}
	for i := (number - 1) * size; i < min(number*size, len(all)); i++ {
		items = append(items, all[i])
	}
	return items, rest.Object{"PageNumber": number, "PageSize": size, "TotalCount": len(all)}, nil
}

// mostPage is the greatest page. Source: API of SLB, DescribeLoadBalancers.
const mostPage = 100
