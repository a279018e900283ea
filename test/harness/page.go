package harness

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Page is where a controller serves its metrics and profiles.
type Page struct{ port int }

// NewPage takes a free port.
func NewPage(ctx context.Context) (Page, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return Page{}, err
	}
	return Page{port: l.Addr().(*net.TCPAddr).Port}, l.Close()
}

// Flags returns the flags that make a controller serve the page without authentication.
func (p Page) Flags(w *World) []string {
	return []string{
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(p.port), "--cert-dir=" + w.Dir, "--profiling=true",
		"--authorization-always-allow-paths=/metrics,/debug/pprof/*",
	}
}

// Fetch reads a path of the page.
func (p Page) Fetch(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", p.port, path), nil)
	if err != nil {
		return nil, err
	}
	// The certificate is the one that the controller made for itself.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, res.Status)
	}
	return body, err
}

// Sum adds each of the metrics over all its labels.
func (p Page) Sum(ctx context.Context, names ...string) ([]int, error) {
	page, err := p.Fetch(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	out := make([]int, len(names))
	for i, name := range names {
		total := 0.0
		for line := range strings.Lines(string(page)) {
			if rest, ok := strings.CutPrefix(line, name); ok && strings.HasPrefix(rest, "{") {
				if fields := strings.Fields(rest); len(fields) > 1 {
					n, _ := strconv.ParseFloat(fields[len(fields)-1], 64) // the page holds numbers
					total += n
				}
			}
		}
		out[i] = int(total)
	}
	return out, nil
}
