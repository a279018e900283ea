package page

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/explain"
	"github.com/berth-lb/berth/service/graph"
	"github.com/berth-lb/berth/service/page"
	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// values is a source of documents that are given.
type values struct{ services []view.Service }

func (v values) Fleet(context.Context) (view.Fleet, error) {
	return view.Fleet{FormatVersion: plan.FormatVersion, Total: len(v.services), Services: v.services}, nil
}

func (v values) Planned(ctx context.Context) (view.Fleet, error) { return v.Fleet(ctx) }

func (v values) Service(_ context.Context, namespace, name string) (view.Service, error) {
	for _, s := range v.services {
		if s.Owner.Namespace == namespace && s.Owner.Name == name {
			return s, nil
		}
	}
	return view.Service{}, view.ErrNotFound
}

func (v values) Plan(context.Context) (plan.Document, error) {
	out := plan.Document{FormatVersion: plan.FormatVersion, Provider: "aws", Plans: []plan.Doc{}}
	for _, s := range v.services {
		if s.Detail != nil && s.Detail.Plan != nil {
			out.Plans = append(out.Plans, *s.Detail.Plan)
		}
	}
	return out, nil
}

func (v values) Shared(context.Context) (view.Shared, error) {
	out := view.Shared{FormatVersion: plan.FormatVersion, Provider: "aws", Resources: []view.SharedResource{{Key: stack.Key{Kind: "security-group"}, ID: "sg-1"}}}
	for _, s := range v.services[:min(3, len(v.services))] {
		out.Resources[0].Users = append(out.Resources[0].Users, view.Use{Owner: s.Owner, Parts: []string{"rule/tcp-80"}})
	}
	return out, nil
}

// newService returns a Service that is as desired.
func newService(namespace, name string) view.Service {
	s := view.Service{Kind: "nlb", Impact: view.NoChanges}
	s.Owner = stack.Owner{Namespace: namespace, Name: name}
	s.Addresses, s.Ports, s.Health = []string{name + ".example.com"}, []string{"80/TCP"}, status.Healthy
	s.Message = "nlb " + name + " serves 80/TCP"
	return s
}

// hostile is a text that would run a script if it were not encoded, and that reorders its line.
const hostile = "<script>window.hit=1</script><img src=x onerror=window.hit=1>\u202eabc\u200f"

// refusedService returns a Service that was refused, with every detail that the page shows. Each
// text of another author is hostile.
func refusedService() view.Service {
	s := newService("shop", "refused")
	s.Health, s.Impact, s.Message, s.Class = status.Degraded, view.Refused, hostile, hostile
	s.Conditions = []metav1.Condition{{Type: status.TypeAccepted, Status: metav1.ConditionFalse, Reason: string(status.ReasonInvalidAnnotation), Message: hostile}}
	s.Events = []string{hostile}
	group, balancer := stack.Key{Kind: "target-group", Name: "tcp-80"}, stack.Key{Kind: "load-balancer"}
	s.Balancers = []view.Branch{{Key: balancer, Label: "load-balancer", Below: []view.Branch{{Key: group, Label: hostile, Members: []providers.MemberHealth{
		{Of: group, Member: "i-1:30080", Healthy: true, State: "healthy"}, {Of: group, Member: "i-2:30080", State: "unhealthy", Why: hostile},
	}}}}}
	field := plan.FieldDoc{Name: "Scheme", Value: hostile}
	step := plan.StepDoc{ID: "update load-balancer", Action: plan.Update, Target: plan.ResourceDoc{Key: balancer}, Impact: plan.Interrupts, Why: hostile, Changes: []plan.ChangeDoc{{Field: "Scheme", From: "internal", To: hostile}}}
	s.Detail = &view.Detail{
		Provider: "aws",
		Problems: []plan.Problem{{Severity: plan.Error, Code: "BRT104", Where: hostile, Text: hostile}, {Severity: plan.Warning, Text: hostile}},
		Plan:     &plan.Doc{Owner: s.Owner, Steps: []plan.StepDoc{step}, Held: []plan.HeldDoc{{Step: step, By: "policy", Why: hostile}}, Traffic: []plan.PortDoc{{Port: 80, Protocol: "TCP", Family: "IPv4", Effect: plan.Interrupted, Lost: step.ID}}},
		Have:     []plan.ResourceDoc{{Key: balancer, ID: hostile, Fields: []plan.FieldDoc{{Name: "Scheme", Value: "internal"}}}},
		Want: []explain.Resource{
			{Key: balancer, Fields: []explain.Field{{FieldDoc: field, Causes: []explain.Cause{{Origin: annotations.Origin{Source: annotations.FromAnnotation, Key: "example.com/scheme", Raw: hostile}, Without: "internal", Compared: true}}}}},
			{Key: group, Fields: []explain.Field{{FieldDoc: plan.FieldDoc{Name: "Port", Value: 80}}}},
		},
		Graph: &graph.Graph{
			Owner: s.Owner,
			Nodes: []graph.Node{{ID: "port 80/TCP", Role: graph.Port, Label: "80/TCP"}, {ID: "load-balancer", Role: graph.Resource, Label: "load-balancer", Shared: true}, {ID: "target-group/tcp-80", Role: graph.Resource, Label: "target-group/tcp-80", State: graph.Missing}, {ID: "member i-2:30080", Role: graph.Member, Label: "i-2:30080"}, {ID: "service x", Role: graph.Service, Label: hostile}},
			Edges: []graph.Edge{{From: "port 80/TCP", To: "load-balancer"}, {From: "load-balancer", To: "target-group/tcp-80"}, {From: "target-group/tcp-80", To: "member i-2:30080"}, {From: "service x", To: "load-balancer"}},
		},
		Notes: []string{hostile},
	}
	return s
}

// newFleet returns Services of all impacts; the first one is refused.
func newFleet(n int) values {
	v := values{services: []view.Service{refusedService()}}
	impacts := []view.Impact{view.NoChanges, view.Updates, view.Interrupts, view.Alone, view.Refused}
	for i := 1; i < n; i++ {
		s := newService(fmt.Sprintf("team-%d", i%20), fmt.Sprintf("web-%d", i))
		s.Impact = impacts[i%len(impacts)]
		if i%10 == 0 {
			s.Decide(view.Differs, "the cloud differs by 1 step")
		}
		v.services = append(v.services, s)
	}
	return v
}

// TestPage looks at every view with one browser.
func TestPage(t *testing.T) {
	b := startBrowser(t)
	url := servePage(t, newFleet(200))
	t.Run("hostile texts", func(t *testing.T) { lookAtTexts(t, b, url) })
	t.Run("codes and heaps", func(t *testing.T) { lookAtHeaps(t, b, url) })
	t.Run("keyboard", func(t *testing.T) { useKeyboard(t, b, url) })
	t.Run("access", func(t *testing.T) { checkAccess(t, b, servePage(t, newFleet(12))) })
	t.Run("token", func(t *testing.T) { enterToken(t, b) })
	t.Run("many", func(t *testing.T) { showMany(t, b) })
}

const shownService = `document.querySelector('h1')?.textContent === 'shop/refused'`

// lookAtTexts shows that no text of another author runs or hides.
func lookAtTexts(t *testing.T, b browser, url string) {
	for view, ready := range map[string]string{
		"services": `document.querySelectorAll('.fleet tbody tr').length === 200`, "services/shop/refused": shownService,
		"plan": `document.querySelectorAll('#plan h2').length === 1`, "takeover": `document.querySelectorAll('.heap').length === 5`, "shared": `document.querySelectorAll('main table').length === 1`,
	} {
		b.open(t, url, view)
		b.wait(t, ready)
		text := evaluateIn[string](t, b, `document.getElementById('app').textContent`)
		if view != "takeover" && view != "shared" && !strings.Contains(text, `<script>window.hit=1</script>`) || strings.ContainsAny(text, "\u202e\u200f") {
			t.Errorf("%s shows the text otherwise:\n%s", view, text)
		}
		if evaluateIn[bool](t, b, `'hit' in window || document.querySelectorAll('#app script, #app img').length > 0`) {
			t.Errorf("%s runs a text", view)
		}
	}
}

// lookAtHeaps: a refused Service has its code, the heaps have all Services, and the export is one
// file without a script.
func lookAtHeaps(t *testing.T, b browser, url string) {
	b.open(t, url, "services?problem=InvalidAnnotation")
	b.wait(t, `document.querySelector('#count')?.textContent === '1 of 200 Services'`)
	if got := evaluateIn[string](t, b, `document.querySelector('.fleet tbody tr').textContent`); !strings.Contains(got, "InvalidAnnotation") || !strings.Contains(got, "degraded") {
		t.Errorf("the refused Service is shown as %q", got)
	}
	b.open(t, url, "services/shop/refused")
	b.wait(t, shownService)
	if got := evaluateIn[string](t, b, `document.querySelector('.lead').textContent`); !strings.Contains(got, "BRT104") {
		t.Errorf("the refused Service is shown as %q", got)
	}
	b.open(t, url, "takeover")
	b.wait(t, `document.querySelectorAll('.heap').length === 5`)
	if got := evaluateIn[[]int](t, b, `[...document.querySelectorAll('.heap')].map((heap) => heap.querySelectorAll('li').length)`); !slices.Equal(got, []int{41, 40, 40, 39, 40}) {
		t.Errorf("the heaps have %v Services", got)
	}
	if got := evaluateIn[int](t, b, `document.querySelectorAll('.heap li').length`); got != 200 {
		t.Errorf("the heaps have %d Services, want 200", got)
	}
	b.open(t, url, "plan")
	b.wait(t, `document.querySelector('#plan h2') !== null`)
	saved := evaluateIn[string](t, b, `(async () => {
		let saved;
		const real = URL.createObjectURL;
		URL.createObjectURL = (blob) => { saved = blob; return real.call(URL, blob); };
		document.querySelector('.filters button').click();
		return saved.text();
	})()`)
	if !strings.HasPrefix(saved, "<!doctype html>") || !strings.Contains(saved, "&lt;script&gt;") || strings.Contains(saved, "<script") || strings.Contains(saved, "<img") {
		t.Errorf("the plan is saved as\n%s", saved)
	}
}

// checkAccess runs axe-core in every view and both themes, and looks for a page wider than a small
// screen.
func checkAccess(t *testing.T, b browser, url string) {
	ready := map[string]string{
		"services": `document.querySelector('.fleet') !== null`, "services/shop/refused": shownService,
		"plan": `document.querySelector('#plan h2') !== null`, "takeover": `document.querySelector('.heap') !== null`, "shared": `document.querySelector('main table') !== null`,
	}
	for view, expression := range ready {
		for _, theme := range []string{"light", "dark"} {
			b.theme(t, theme)
			b.open(t, url, view)
			b.wait(t, expression)
			evaluateIn[bool](t, b, `document.querySelectorAll('details').forEach((d) => { d.open = true; }), true`)
			for _, v := range b.violations(t) {
				t.Errorf("%s, %s: %s", view, theme, v)
			}
		}
		if _, err := chromedp.Run(b.ctx, chromedp.EmulateViewport(320, 640)); err != nil {
			t.Fatal(err)
		}
		if width := evaluateIn[int](t, b, `document.documentElement.scrollWidth`); width > 320 {
			t.Errorf("%s is %d pixels wide on a screen of 320", view, width)
		}
		if _, err := chromedp.Run(b.ctx, chromedp.ResetViewport()); err != nil {
			t.Fatal(err)
		}
	}
}

// Limits of what the list of Services costs, whatever their number.
const (
	mostRows  = 200  // in the document
	bytesEach = 1000 // of an answer, for each Service
)

// The number of Services of which the list is measured, with the processor time of the page until all are shown,
// in seconds. It was 0.11 and 0.14 on two busy processors, and 0.4 s on the clock both times.
const (
	many, manyTime         = 2000, 1.0
	veryMany, veryManyTime = 10000, 3.0
	mostGrowth             = 3 // of the time, for five times the number
)

// showMany measures the work of showing many Services: processor time, one request for each thousand, few bytes for
// each Service, and the first rows alone.
func showMany(t *testing.T, b browser) {
	few, all := b.showServices(t, many), b.showServices(t, veryMany)
	if few > manyTime || all > veryManyTime || all > mostGrowth*few {
		t.Errorf("%d Services take %.3f s and %d take %.3f s, more than %v and %v, or than %d times as much", many, few, veryMany, all, manyTime, veryManyTime, mostGrowth)
	}
}

// showServices opens a list of Services and returns the processor time of the page.
func (b browser) showServices(t *testing.T, n int) float64 {
	url := servePage(t, newFleet(n))
	spent := b.measure(t, func() {
		b.open(t, url, "services")
		b.wait(t, fmt.Sprintf(`document.querySelector('#count')?.textContent === '%d Services'`, n))
	})
	t.Logf("%d Services are shown %.0f ms after the start of the page, with %.3f s of its main thread", n, evaluateIn[float64](t, b, `performance.now()`), spent)
	if got := evaluateIn[int](t, b, `document.querySelectorAll('.fleet tbody tr').length`); got != mostRows {
		t.Errorf("%d Services: %d rows, want the first %d", n, got, mostRows)
	}
	if got := evaluateIn[int](t, b, `performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/')).length`); got != n/1000 {
		t.Errorf("%d Services: %d requests, want %d", n, got, n/1000)
	}
	if got := evaluateIn[int](t, b, `performance.getEntriesByType('resource').reduce((sum, e) => sum + (e.name.includes('/api/') ? e.decodedBodySize : 0), 0)`); got == 0 || got > n*bytesEach {
		t.Errorf("%d Services: %d bytes, want at most %d", n, got, n*bytesEach)
	}
	return spent
}

// useKeyboard opens a resource from the graph by the keyboard alone.
func useKeyboard(t *testing.T, b browser, url string) {
	b.open(t, url, "services/shop/refused")
	b.wait(t, shownService)
	evaluateIn[bool](t, b, `document.querySelector('[data-id="target-group/tcp-80"]').focus(), true`)
	if _, err := chromedp.Run(b.ctx, chromedp.KeyEvent("\r")); err != nil {
		t.Fatal(err)
	}
	b.wait(t, `document.getElementById('resource-target-group/tcp-80').open`)
	b.wait(t, `document.activeElement.id === 'resource-target-group/tcp-80'`)
	if got := evaluateIn[string](t, b, `document.querySelector('[data-id="target-group/tcp-80"]').textContent`); got != "target-group/tcp-80 missing " {
		t.Errorf("the missing group is named %q", got)
	}
}

// enterToken opens a page of many users, which asks for the token of this one.
func enterToken(t *testing.T, b browser) {
	server := httptest.NewServer(page.NewForUsers(func(r *http.Request) (page.Source, error) {
		if page.Bearer(r) != "a.b-c" {
			return nil, &page.RefusalError{Status: http.StatusUnauthorized, Text: "the token is missing"}
		}
		return newFleet(3), nil
	}))
	t.Cleanup(server.Close)
	if _, err := chromedp.Run(b.ctx, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	b.wait(t, `document.querySelector('#token input') !== null`)
	if v := b.violations(t); len(v) > 0 {
		t.Errorf("axe-core finds %v", v)
	}
	evaluateIn[bool](t, b, `(() => { const form = document.getElementById('token'); form.elements.token.value = 'a.b-c'; form.requestSubmit(); return true; })()`)
	b.wait(t, `document.querySelector('#count')?.textContent === '3 Services' && document.getElementById('token') === null`)
}
