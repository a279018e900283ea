package query_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

func TestParams(t *testing.T) {
	form := url.Values{
		"Action":                {"X"},
		"SecurityGroups":        {""},
		"Subnets.member.10":     {"c"},
		"Subnets.member.2":      {"b"},
		"Subnets.member.1":      {"a"},
		"Tags.member.1.Key":     {"k"},
		"HealthCheck.Target":    {"TCP:80"},
		"HealthCheck.Interval":  {"ten"},
		"HealthCheck.Threshold": {"3"},
		"Enabled":               {"True"},
	}
	p := query.ParseForm(form, query.AWSQuery)
	if diff := cmp.Diff([]string{"a", "b", "c"}, p.Strs("Subnets")); diff != "" {
		t.Errorf("Subnets (-want +got)\n%s", diff)
	}
	if got := p.List("Tags"); len(got) != 1 || got[0].Str("Key") != "k" {
		t.Errorf("Tags = %v, want one with key k", got)
	}
	if got := p.Sub("HealthCheck").Str("Target"); got != "TCP:80" {
		t.Errorf("target %q, want TCP:80", got)
	}
	if n, ok, err := p.Int("HealthCheck.Threshold"); n != 3 || !ok || err != nil {
		t.Errorf("threshold = %d, %v, %v, want 3", n, ok, err)
	}
	if _, _, err := p.Int("HealthCheck.Interval"); err == nil || err.(*query.Error).Code != "ValidationError" {
		t.Errorf("interval: error %v, want ValidationError", err)
	}
	if on, ok, err := p.Bool("Enabled"); !on || !ok || err != nil {
		t.Errorf("Enabled = %v, %v, %v, want true", on, ok, err)
	}
	if _, ok, err := p.Int("Absent"); ok || err != nil {
		t.Errorf("Absent = %v, %v, want absent", ok, err)
	}
	for name, want := range map[string]bool{"SecurityGroups": true, "Subnets": true, "HealthCheck": true, "Scheme": false} {
		if got := p.Has(name); got != want {
			t.Errorf("Has(%s) = %v, want %v", name, got, want)
		}
	}
	if got := p.Strs("SecurityGroups"); len(got) != 0 {
		t.Errorf("bare list = %q, want empty", got)
	}
}

func TestEC2Lists(t *testing.T) {
	p := query.ParseForm(url.Values{"Filter.1.Name": {"vpc-id"}, "Filter.1.Value.1": {"v1"}, "Filter.1.Value.2": {"v2"}}, query.EC2Query)
	got := p.List("Filter")
	if len(got) != 1 {
		t.Fatalf("filters %v, want one", got)
	}
	if diff := cmp.Diff([]string{"v1", "v2"}, got[0].Strs("Value")); diff != "" {
		t.Errorf("values (-want +got)\n%s", diff)
	}
	_, _, err := got[0].Int("Name")
	if e, ok := err.(*query.Error); !ok || e.Code != "InvalidParameterValue" {
		t.Errorf("error %v, want InvalidParameterValue", err)
	}
}

type list struct {
	Names []string `xml:"Names"`
}

func newService(style query.Style) *query.Service {
	return &query.Service{
		Name: "s", Version: "1", Namespace: "http://ns/", Style: style, Writes: func(string) bool { return false },
		Ops: map[string]query.Op{
			"Empty": func(*query.Request) (any, error) { return nil, nil },
			"List":  func(*query.Request) (any, error) { return list{}, nil },
			"Fail":  func(*query.Request) (any, error) { return nil, query.Errorf("Bad.Thing", "no <%s>", "x") },
		},
	}
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		style  query.Style
		action string
		status int
		want   string
	}{
		{query.AWSQuery, "Empty", 200, `<EmptyResponse xmlns="http://ns/"><EmptyResult></EmptyResult><ResponseMetadata><RequestId>ID</RequestId></ResponseMetadata></EmptyResponse>`},
		{query.AWSQuery, "List", 200, `<ListResponse xmlns="http://ns/"><ListResult><Names></Names></ListResult><ResponseMetadata><RequestId>ID</RequestId></ResponseMetadata></ListResponse>`},
		{query.AWSQuery, "Fail", 400, `<ErrorResponse xmlns="http://ns/"><Error><Type>Sender</Type><Code>Bad.Thing</Code><Message>no &lt;x&gt;</Message></Error><RequestId>ID</RequestId></ErrorResponse>`},
		{query.EC2Query, "Empty", 200, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + `<EmptyResponse xmlns="http://ns/"><requestId>ID</requestId><return>true</return></EmptyResponse>`},
		{query.EC2Query, "List", 200, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + `<ListResponse xmlns="http://ns/"><requestId>ID</requestId><Names></Names></ListResponse>`},
		{query.EC2Query, "Fail", 400, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + `<Response><Errors><Error><Code>Bad.Thing</Code><Message>no &lt;x&gt;</Message></Error></Errors><RequestID>ID</RequestID></Response>`},
		{query.EC2Query, "Unknown", 400, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + `<Response><Errors><Error><Code>InvalidAction</Code><Message>The action Unknown is not valid for this web service.</Message></Error></Errors><RequestID>ID</RequestID></Response>`},
	}
	for _, tc := range tests {
		s := newService(tc.style)
		req := s.NewRequest(url.Values{"Action": {tc.action}}, time.Time{})
		got := s.Do(req)
		if got.Status != tc.status {
			t.Errorf("%s: status %d, want %d", tc.action, got.Status, tc.status)
		}
		if diff := cmp.Diff(tc.want, strings.ReplaceAll(string(got.Body), req.ID, "ID")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.action, diff)
		}
	}
}

func TestHandler(t *testing.T) {
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodGet, "/?Action=List&Version=1", nil),
		func() *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("Action=List&Version=1"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
			return r
		}(),
	} {
		w := httptest.NewRecorder()
		newService(query.AWSQuery).Handler(time.Now)(w, r)
		if w.Code != 200 || !strings.Contains(w.Body.String(), "<ListResult>") || w.Header().Get("X-Amzn-Requestid") == "" {
			t.Errorf("%s: %d %s %v", r.Method, w.Code, w.Body, w.Header())
		}
	}
}

func TestPage(t *testing.T) {
	key := func(s string) string { return s }
	items := []string{"a", "b", "c", "d", "e"}
	var got []string
	token, pages := "", 0
	for {
		page, next, ok := query.Page(items, key, token, 2)
		if !ok {
			t.Fatalf("token %q refused", token)
		}
		got, pages = append(got, page...), pages+1
		if next == "" {
			break
		}
		token = next
		// An item that is deleted between two pages must not cost another one.
		items = items[1:]
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e"}, got); diff != "" || pages != 3 {
		t.Errorf("%d pages, want 3 (-want +got)\n%s", pages, diff)
	}
	if _, _, ok := query.Page(items, key, "bogus", 2); ok {
		t.Error("a bogus token was accepted")
	}
}
