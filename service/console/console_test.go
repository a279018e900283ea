package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/status"
)

// cluster is an API server that reviews tokens and rights, and counts.
type cluster struct {
	tokens, rights int
	broken         bool
	asked          authorizationv1.SubjectAccessReviewSpec // the last one
}

// namespaces that each user may list; "*" is every one.
func mayList(user string) []string {
	return map[string][]string{"admin": {"*"}, "clerk": {"shop"}}[user]
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if c.broken {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	switch r.URL.Path {
	case "/apis/authentication.k8s.io/v1/tokenreviews":
		c.tokens++
		var review authenticationv1.TokenReview
		_ = json.NewDecoder(r.Body).Decode(&review) // an empty token is refused below
		name, good := strings.CutPrefix(review.Spec.Token, "token-of-")
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: good, User: authenticationv1.UserInfo{Username: name, Groups: []string{"staff"}, Extra: map[string]authenticationv1.ExtraValue{"scope": {"web"}}}}
		_ = json.NewEncoder(w).Encode(review) // a test fails then
	case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
		c.rights++
		var review authorizationv1.SubjectAccessReview
		_ = json.NewDecoder(r.Body).Decode(&review) // nothing is allowed then
		c.asked = review.Spec
		all := mayList(review.Spec.User)
		if a := review.Spec.ResourceAttributes; a != nil && a.Verb == "list" && a.Resource == "services" && a.Group == "" {
			review.Status.Allowed = slices.Contains(all, "*") || a.Namespace != "" && slices.Contains(all, a.Namespace)
		}
		_ = json.NewEncoder(w).Encode(review) // a test fails then
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

type groupSpec struct{ Name string }

// remembering is a replica that leads.
type remembering struct {
	owners []stack.Owner
	health map[string][]view.Member // by the name of the Service; missing: it was not read
}

// healthTime is when health was read.
func healthTime() time.Time { return time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC) }

func (m remembering) LastHealth(o stack.Owner) ([]view.Member, time.Time) {
	found, known := m.health[o.Name]
	if !known {
		return nil, time.Time{}
	}
	return found, healthTime()
}

func (m remembering) Remembered(o stack.Owner) *stack.Stack {
	group := stack.Resource{Key: stack.Key{Kind: "group", Name: "bank-ledger"}, ID: "of-ledger", Ownership: stack.Shared, Proof: stack.Name, Spec: groupSpec{Name: "bank"}}
	balancer := stack.Resource{Key: stack.Key{Kind: "balancer"}, ID: "lb-1", Proof: stack.Tag, Spec: groupSpec{Name: "of its own"}}
	return &stack.Stack{Owner: o, Resources: []stack.Resource{balancer, group}}
}

func (m remembering) FlowsOf(stack.Owner, *stack.Stack) []traffic.Flow { return nil }

func (m remembering) Others(of stack.Owner, _ stack.Resource) []stack.Owner {
	return slices.DeleteFunc(slices.Clone(m.owners), func(o stack.Owner) bool { return o == of })
}

// site is a page with the Services shop/web and bank/ledger, which share a group.
type site struct {
	cluster cluster
	clock   *clocktesting.FakePassiveClock
	page    http.Handler
	leads   bool

	health   map[string][]view.Member
	services []*corev1.Service
	judged   []string // the names of the Services whose state was computed
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), leads: true}
	server := httptest.NewServer(&s.cluster)
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	memory := remembering{owners: []stack.Owner{{Namespace: "bank", Name: "ledger", UID: "uid-1"}, {Namespace: "shop", Name: "web", UID: "uid-2"}}}
	for _, o := range memory.owners {
		svc := &corev1.Service{}
		svc.Namespace, svc.Name, svc.UID = o.Namespace, o.Name, types.UID(o.UID)
		svc.Spec.Ports = []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}
		s.services = append(s.services, svc)
	}
	s.page = New(Sources{
		Provider: "aws",
		Services: func() ([]*corev1.Service, bool) { return s.services, true },
		State: func(_ context.Context, all []*corev1.Service) (view.Fleet, error) {
			out := view.Fleet{FormatVersion: plan.FormatVersion, Total: len(all)}
			for _, svc := range all {
				s.judged = append(s.judged, svc.Name)
				standing := view.Standing{Owner: reconcile.OwnerOf(svc), Ports: []string{"80/TCP"}, Addresses: []string{"192.0.2.7"}, Health: status.Degraded}
				out.Services = append(out.Services, view.Service{Standing: standing, Kind: "nlb", Message: "a warning on " + svc.Name})
			}
			return out, nil
		},
		Problems: func(svc *corev1.Service) []plan.Problem {
			return []plan.Problem{{Severity: plan.Warning, Code: "BRT104", Text: "of " + svc.Name}}
		},
		Memory: func() Memory {
			if s.leads {
				memory.health = s.health
				return memory
			}
			return nil
		},
	}, NewAccess(client, s.clock), s.clock).Handler()
	return s
}

// ask sends a request of a user; an empty one has no token.
func (s *site) ask(method, path, user string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "https://berth.example"+path, http.NoBody)
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+user)
	}
	w := httptest.NewRecorder()
	s.page.ServeHTTP(w, r)
	return w
}

const (
	list   = "/api/v1/services"
	web    = "/api/v1/services/shop/web"
	ledger = "/api/v1/services/bank/ledger"
	shared = "/api/v1/shared"
)

// TestRights: each user reads what the API server lets it list, and no name besides.
func TestRights(t *testing.T) {
	for name, tc := range map[string]struct {
		path, user string
		status     int
		has        []string // names in the answer; each other name is missing
	}{
		"no token":                 {list, "", 401, nil},
		"unknown token":            {list, "forged", 401, nil},
		"no rights":                {list, "token-of-guest", 403, nil},
		"no rights, Service":       {web, "token-of-guest", 403, nil},
		"no rights, no Service":    {"/api/v1/services/shop/none", "token-of-guest", 403, nil},
		"no rights, shared":        {shared, "token-of-guest", 403, nil},
		"one namespace":            {list, "token-of-clerk", 200, []string{"shop", "web"}},
		"own Service":              {web, "token-of-clerk", 200, []string{"shop", "web"}},
		"Service of another":       {ledger, "token-of-clerk", 403, nil},
		"no Service of another":    {"/api/v1/services/bank/none", "token-of-clerk", 403, nil},
		"shared with another":      {shared, "token-of-clerk", 200, []string{"shop", "web"}},
		"all namespaces":           {list, "token-of-admin", 200, []string{"shop", "web", "bank", "ledger"}},
		"all, Service":             {ledger, "token-of-admin", 200, []string{"shop", "web", "bank", "ledger"}},
		"all, shared":              {shared, "token-of-admin", 200, []string{"shop", "web", "bank", "ledger"}},
		"plan":                     {"/api/v1/plan", "token-of-admin", 404, nil},
		"impacts":                  {list + "?planned=1", "token-of-admin", 404, nil},
		"the page needs no rights": {"/", "", 200, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSite(t).ask(http.MethodGet, tc.path, tc.user)
			if w.Code != tc.status || len(w.Header().Values("Set-Cookie")) > 0 {
				t.Fatalf("status %d, want %d: %s", w.Code, tc.status, w.Body)
			}
			for _, word := range []string{"shop", "web", "bank", "ledger"} {
				if got := strings.Contains(w.Body.String(), word); got != slices.Contains(tc.has, word) && tc.path != "/" {
					t.Errorf("%q in the answer: %t\n%s", word, got, w.Body)
				}
			}
			if hides := slices.Contains([]string{"own Service", "shared with another"}, name); hides != strings.Contains(w.Body.String(), view.Unnamed) {
				t.Errorf("the other Service: %s", w.Body)
			}
		})
	}
}

// TestHealth: the page shows the health that the controller has read and when, or why there is none. No request changes
// the answer to another one.
func TestHealth(t *testing.T) {
	group := stack.Key{Kind: "group", Name: "80"}
	read := []view.Member{{Of: group, Member: "10.0.0.1", Healthy: true, State: "healthy"}, {Of: group, Member: "10.0.0.2", State: "unhealthy", Why: "timeout"}}
	for name, c := range map[string]struct {
		leads   bool
		health  map[string][]view.Member
		members int
		unseen  string
		note    string
	}{
		"not read":       {true, nil, 0, unreadHealth, ""},
		"read":           {true, map[string][]view.Member{"web": read}, 2, "", "2025-12-31T23:00:00Z"},
		"no member":      {true, map[string][]view.Member{"web": {}}, 0, "", "2025-12-31T23:00:00Z"},
		"of another one": {true, map[string][]view.Member{"ledger": read}, 0, unreadHealth, ""},
		"not leading":    {false, map[string][]view.Member{"web": read}, 0, standby, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.leads, s.health = c.leads, c.health
			for range 2 {
				var got view.Service
				if err := json.Unmarshal(s.ask(http.MethodGet, web, "token-of-clerk").Body.Bytes(), &got); err != nil {
					t.Fatal(err)
				}
				members := 0
				for _, b := range got.Balancers {
					members += len(b.AllMembers())
				}
				if members != c.members || got.Unseen != c.unseen {
					t.Errorf("%d members, want %d; unseen %q, want %q", members, c.members, got.Unseen, c.unseen)
				}
				if told := strings.Contains(strings.Join(got.Detail.Notes, " "), "2025-12-31T23:00:00Z"); told != (c.note != "") {
					t.Errorf("notes %q", got.Detail.Notes)
				}
			}
		})
	}
}

// TestReviews: the answers of the API server are used for ten seconds, those of one user for no
// other, and a review has the attributes of the user.
func TestReviews(t *testing.T) {
	s := newSite(t)
	count := func(tokens, rights int) {
		t.Helper()
		if s.cluster.tokens != tokens || s.cluster.rights != rights {
			t.Errorf("%d tokens and %d rights were reviewed, want %d and %d", s.cluster.tokens, s.cluster.rights, tokens, rights)
		}
	}
	for range 5 {
		s.ask(http.MethodGet, list, "token-of-clerk")
	}
	count(1, 3) // of all namespaces and of each
	a := s.cluster.asked
	if a.User != "clerk" || !slices.Equal(a.Groups, []string{"staff"}) || !slices.Equal(a.Extra["scope"], []string{"web"}) || a.ResourceAttributes.Namespace != "shop" {
		t.Errorf("the review is %+v of %+v", a, a.ResourceAttributes)
	}
	s.ask(http.MethodGet, list, "token-of-admin")
	count(2, 4)
	s.clock.SetTime(s.clock.Now().Add(trusted))
	s.ask(http.MethodGet, list, "token-of-clerk")
	count(3, 7)
	s.clock.SetTime(s.clock.Now().Add(trusted))
	s.cluster.broken = true
	if w := s.ask(http.MethodGet, list, "token-of-clerk"); w.Code != http.StatusBadGateway || strings.Contains(w.Body.String(), "shop") {
		t.Errorf("without reviews: %d, %s", w.Code, w.Body)
	}
	if w := s.ask(http.MethodPost, list, "token-of-admin"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestStandby: a replica that does not lead shows Services, and says why it shows no resources.
func TestStandby(t *testing.T) {
	s := newSite(t)
	s.leads = false
	var got view.Service
	w := s.ask(http.MethodGet, web, "token-of-clerk")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Detail == nil || got.Detail.Graph != nil || fmt.Sprint(got.Detail.Notes) != "["+standby+"]" || len(got.Detail.Problems) != 1 {
		t.Errorf("%v: %s", err, w.Body)
	}
	if w := s.ask(http.MethodGet, shared, "token-of-clerk"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("shared resources: %d", w.Code)
	}
}

// TestManyTokens: forged tokens do not fill the memory.
func TestManyTokens(t *testing.T) {
	k := kept[int, bool]{clock: clocktesting.NewFakePassiveClock(time.Time{})}
	for i := range 2 * mostKept {
		if _, err := k.get(i, func() (bool, error) { return false, nil }); err != nil {
			t.Fatal(err)
		}
		if len(k.all) > mostKept {
			t.Fatalf("%d answers are kept", len(k.all))
		}
	}
}

// TestExistingResources: a Service has the fields of its own resources, and not those of shared ones,
// which can name other Services.
func TestExistingResources(t *testing.T) {
	var got view.Service
	w := newSite(t).ask(http.MethodGet, web, "token-of-clerk")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Detail == nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if have := got.Detail.Have; len(have) != 1 || have[0].ID != "lb-1" || len(have[0].Fields) != 1 {
		t.Errorf("the existing resources are %+v", have)
	}
}

// TestUnchangedServices: the state of a Service is computed again only when its object has changed.
func TestUnchangedServices(t *testing.T) {
	s := newSite(t)
	read := func(judged ...string) string {
		t.Helper()
		s.judged = nil
		s.clock.SetTime(s.clock.Now().Add(fresh))
		body := s.ask(http.MethodGet, list, "token-of-admin").Body.String()
		if !slices.Equal(s.judged, judged) {
			t.Errorf("the state of %q was computed, want %q", s.judged, judged)
		}
		return body
	}
	first := read("ledger", "web")
	if again := read(); again != first {
		t.Errorf("an unchanged list is\n%s\nafter\n%s", again, first)
	}
	changed := s.services[1].DeepCopy()
	changed.UID = "uid-3"
	s.services = []*corev1.Service{s.services[0], changed}
	if body := read("web"); !strings.Contains(body, "uid-3") || !strings.Contains(body, "uid-1") || strings.Contains(body, "uid-2") {
		t.Errorf("after a change the list is\n%s", body)
	}
	s.services = s.services[1:]
	if body := read(); strings.Contains(body, "ledger") {
		t.Errorf("after a deletion the list is\n%s", body)
	}
}
