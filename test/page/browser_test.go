package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/berth-lb/berth/service/page"
)

// token is the secret of the servers of the tests.
const token = "0123456789abcdef"

// browser is one process with one tab.
type browser struct{ ctx context.Context }

// startBrowser starts Chromium, or skips the test where there is none.
func startBrowser(t *testing.T) browser {
	t.Helper()
	var found string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			found = path
			break
		}
	}
	if found == "" {
		t.Skip("no Chromium was found, so the page is not tested; on Debian: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(func() { cancel(); stop() })
	b := browser{ctx}
	if _, err := chromedp.Run(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return b
}

// servePage serves the page with the documents of a source and returns its address.
func servePage(t *testing.T, source page.Source) string {
	t.Helper()
	guard := page.Guard{Token: token}
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	guard.Hosts = []string{strings.TrimPrefix(server.URL, "http://")}
	handler = page.New(source, guard)
	return server.URL
}

// open shows a view: first the address that the command prints, then the view.
func (b browser) open(t *testing.T, url, view string) {
	t.Helper()
	for _, address := range []string{"about:blank", url + "/#token=" + token} {
		if _, err := chromedp.Run(b.ctx, chromedp.Navigate(address)); err != nil {
			t.Fatal(err)
		}
	}
	b.wait(t, `location.hash === '#/services'`)
	evaluateIn[string](t, b, `location.hash = `+quoteText("#/"+view))
}

// evaluateIn returns the value of an expression.
func evaluateIn[T any](t *testing.T, b browser, expression string) T {
	t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// patience bounds the wait for a condition; none of them takes it.
const patience = 30 * time.Second

// wait returns when an expression is true.
func (b browser) wait(t *testing.T, expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression))
	for err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "Cannot find context") { // the page was replaced meanwhile
		_, err = chromedp.Run(ctx, chromedp.Poll[bool](expression))
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", expression, err, evaluateIn[string](t, b, `document.body.innerText`))
	}
}

// theme switches between light and dark.
func (b browser) theme(t *testing.T, value string) {
	t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}}
	_, err := chromedp.Run(b.ctx, func(ctx context.Context, target *chromedp.Target) (cdp.Empty, error) {
		return cdp.Call(ctx, target, emulation.SetEmulatedMedia, params)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// violations returns what axe-core finds in the present view.
func (b browser) violations(t *testing.T) []string {
	t.Helper()
	if !evaluateIn[bool](t, b, `typeof window.axe === 'object'`) {
		text, err := os.ReadFile("axe/axe.min.js")
		if err != nil {
			t.Fatal(err)
		}
		evaluateIn[bool](t, b, string(text)+"\n;true")
	}
	return evaluateIn[[]string](t, b, `axe.run(document).then((r) => r.violations.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map((n) => n.html).join(' ')))`)
}

// measure returns the processor time of the page's main thread during some work, in seconds. Scripts and
// the layout run on this thread. Unlike the time on a clock, it does not grow while other processes run.
func (b browser) measure(t *testing.T, work func()) float64 {
	t.Helper()
	_, err := chromedp.Call(b.ctx, performance.Disable, cdp.Empty{})
	if err == nil {
		_, err = chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{})
	}
	if err != nil {
		t.Fatal(err)
	}
	work()
	found, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found.Metrics, func(m *performance.Metric) bool { return m.Name == "ThreadTime" })
	if i < 0 || found.Metrics[i].Value <= 0 {
		t.Fatalf("the browser does not measure the time of its main thread: %v", found.Metrics)
	}
	return found.Metrics[i].Value
}

func quoteText(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprint(err)) // a string has a form in JSON
	}
	return string(out)
}
