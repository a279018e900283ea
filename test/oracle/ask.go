package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// What both clouds have: the region, and an ordinary project with its user.
const (
	region       = "RegionOne"
	projectName  = "berth"
	userName     = simopenstack.UserName
	userPassword = simopenstack.Password
)

// document is a JSON object.
type document = map[string]any

// answer is what a cloud says.
type answer struct {
	status int
	body   any // as JSON decodes it; nil: none
}

// cloud is one of the two, seen through its APIs.
type cloud struct {
	name     string
	identity string            // address of Keystone's version 3
	base     map[string]string // addresses of the APIs by their types in the catalog
	token    string
	project  string
	known    map[string]string // what the script has given names to
	// ready makes load balancers end their changes.
	ready func(context.Context) error
}

// openCloud opens a cloud for a user of a project.
func openCloud(ctx context.Context, name, identity, user, password, project string) (*cloud, error) {
	c := &cloud{name: name, identity: identity, base: map[string]string{}, known: map[string]string{}}
	home := document{"name": "Default"}
	body := document{"auth": document{
		"identity": document{"methods": []string{"password"}, "password": document{"user": document{"name": user, "password": password, "domain": home}}},
		"scope":    document{"project": document{"name": project, "domain": home}},
	}}
	got, header, err := c.send(ctx, http.MethodPost, identity+"/auth/tokens", body, nil)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusCreated {
		return nil, fmt.Errorf("%s: login of %s: %d %v", name, user, got.status, got.body)
	}
	c.token = header.Get("X-Subject-Token")
	c.project, _ = valueAt(got.body, "token.project.id").(string)
	services, _ := valueAt(got.body, "token.catalog").([]any)
	for _, s := range services {
		kind, _ := valueAt(s, "type").(string)
		endpoints, _ := valueAt(s, "endpoints").([]any)
		for _, e := range endpoints {
			if valueAt(e, "interface") == "public" {
				c.base[kind], _ = valueAt(e, "url").(string)
			}
		}
	}
	return c, nil
}

// do sends one request to an API. Its version is added to the path, unless that begins
// with "^", for the root.
func (c *cloud) do(ctx context.Context, method, api, path string, body any, header http.Header) (answer, error) {
	base := c.identity
	if api != "identity" {
		base = strings.TrimSuffix(c.base[api], "/")
		root, rooted := strings.CutPrefix(path, "^")
		if !rooted {
			base += "/v2.0"
		}
		path = root
	}
	got, _, err := c.send(ctx, method, base+path, body, header)
	return got, err
}

func (c *cloud) send(ctx context.Context, method, url string, body any, header http.Header) (answer, http.Header, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return answer{}, nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(raw))
	if err != nil {
		return answer{}, nil, err
	}
	for key, values := range header {
		req.Header[key] = values
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("X-Auth-Token", c.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, nil, err
	}
	out := answer{status: res.StatusCode}
	if len(bytes.TrimSpace(text)) > 0 && json.Unmarshal(text, &out.body) != nil {
		out.body = string(text) // an error page
	}
	return out, res.Header, nil
}

// must sends a request that has to succeed and returns one value of the answer.
func (c *cloud) must(ctx context.Context, method, api, path string, body any, keep string) (string, error) {
	got, err := c.do(ctx, method, api, path, body, nil)
	if err != nil {
		return "", err
	}
	if got.status >= http.StatusBadRequest {
		return "", fmt.Errorf("%s: %s %s: %d %v", c.name, method, path, got.status, got.body)
	}
	value, _ := valueAt(got.body, keep).(string)
	if value == "" && keep != "" {
		return "", fmt.Errorf("%s: %s %s: the answer has no %s: %v", c.name, method, path, keep, got.body)
	}
	return value, nil
}

// settled waits until no load balancer of the project is under change.
func (c *cloud) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		got, err := c.do(ctx, http.MethodGet, "load-balancer", "/lbaas/loadbalancers", nil, nil)
		if err != nil {
			return err
		}
		if !strings.Contains(fmt.Sprint(got.body), "PENDING_") {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: load balancers stay busy: %v", c.name, got.body)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// valueAt returns the value under a path such as "token.catalog.0.type", nil if it does
// not exist.
func valueAt(v any, path string) any {
	if path == "" {
		return v
	}
	key, rest, _ := strings.Cut(path, ".")
	switch v := v.(type) {
	case document:
		return valueAt(v[key], rest)
	case []any:
		var i int
		if _, err := fmt.Sscan(key, &i); err == nil && i < len(v) {
			return valueAt(v[i], rest)
		}
	}
	return nil
}
