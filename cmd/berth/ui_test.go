package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/test/schemas"
)

// announced passes on the first line that is written to it.
type announced struct {
	line chan string
	text bytes.Buffer
}

func (a *announced) Write(p []byte) (int, error) {
	a.text.Write(p)
	if line, _, whole := strings.Cut(a.text.String(), "\n"); whole {
		select {
		case a.line <- line:
		default:
		}
	}
	return len(p), nil
}

// startUI starts the command and returns the address of the page and the token.
func startUI(t *testing.T, args ...string) (address, token string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := &announced{line: make(chan string, 1)}
	ended := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		ended <- runCommand(ctx, append([]string{"ui"}, args...), streams{in: strings.NewReader(""), out: out, err: &errs})
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("exit code %d\n%s", code, errs.String())
		}
	})
	select {
	case line := <-out.line:
		address, token, _ = strings.Cut(line, "/#token=")
	case code := <-ended:
		ended <- code
		t.Fatalf("the command ended: %s", errs.String())
	}
	return address, token
}

// readDocument reads a document and compares it with its schema.
func readDocument(t *testing.T, url, token, schema string, into any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode
	}
	document, err := schemas.Find(schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(string(body)); err != nil {
		t.Errorf("%s: %v\n%s", url, err, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

const pageServices = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, annotations: {service.beta.kubernetes.io/aws-load-balancer-type: nlb}}
spec: {type: LoadBalancer, ports: [{port: 80, nodePort: 30080}]}
---
apiVersion: v1
kind: Service
metadata: {name: bad, namespace: shop, annotations: {service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout: soon}}
spec: {type: LoadBalancer, ports: [{port: 80, nodePort: 30081}]}
---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: shop}
spec: {type: LoadBalancer, loadBalancerClass: example.com/other, ports: [{port: 80, nodePort: 30082}]}
`

// TestUI reads every document of the page as another program would.
func TestUI(t *testing.T) {
	flags, nodes := startAWS(t, 2)
	file := filepath.Join(t.TempDir(), "services.yaml")
	if err := os.WriteFile(file, []byte(pageServices), 0o600); err != nil {
		t.Fatal(err)
	}
	address, token := startUI(t, append([]string{"-f", file, "--nodes", nodes, "--offline"}, flags...)...)
	if !strings.HasPrefix(address, "http://127.0.0.1:") || len(token) != 64 {
		t.Fatalf("the command prints %s and a token of %d characters", address, len(token))
	}
	if code := readDocument(t, address+"/api/v1/services", "", "page-services", nil); code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", code)
	}
	var fleet, part view.Fleet
	readDocument(t, address+"/api/v1/services?planned=1", token, "page-services", &fleet)
	impacts := map[string]view.Impact{}
	for _, s := range fleet.Services {
		impacts[s.Owner.Name] = s.Impact
	}
	if impacts["web"] != view.Creates || impacts["bad"] != view.Refused || impacts["other"] != view.Alone {
		t.Errorf("the impacts are %v", impacts)
	}
	if readDocument(t, address+"/api/v1/services?offset=1&limit=1", token, "page-services", &part); part.Total != 3 || part.Offset != 1 || len(part.Services) != 1 || part.Services[0].Owner.Name != "other" {
		t.Errorf("the second Service alone is %+v", part)
	}
	var web, bad view.Service
	readDocument(t, address+"/api/v1/services/shop/web", token, "page-service", &web)
	if web.Kind != "nlb" || web.Detail == nil || web.Detail.Graph == nil || len(web.Detail.Want) == 0 || len(web.Detail.Plan.Steps) == 0 {
		t.Errorf("the Service is %+v", web)
	}
	readDocument(t, address+"/api/v1/services/shop/bad", token, "page-service", &bad)
	if bad.Detail == nil || len(bad.Detail.Problems) == 0 || bad.Detail.Problems[0].Code == "" || bad.Detail.Unplanned == "" {
		t.Errorf("the refused Service is %+v", bad)
	}
	if code := readDocument(t, address+"/api/v1/services/shop/none", token, "page-service", nil); code != http.StatusNotFound {
		t.Errorf("a Service that does not exist: %d", code)
	}
	var plan map[string]any
	readDocument(t, address+"/api/v1/plan", token, "plan", &plan)
	var shared view.Shared
	readDocument(t, address+"/api/v1/shared", token, "page-shared", &shared)
	if len(plan) == 0 || len(shared.Resources) == 0 {
		t.Errorf("the plan is %v, the shared resources are %v", plan, shared)
	}
}
