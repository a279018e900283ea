package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// result is the result of the comparison.
type result struct {
	requests, differences, accepted int
}

// compareClouds plays the script to both clouds and prints where their answers differ.
func compareClouds(ctx context.Context, out io.Writer, steps []step, ours, other *cloud) (result, error) {
	var r result
	for _, s := range steps {
		if s.wait {
			if err := errors.Join(ours.ready(ctx), other.ready(ctx)); err != nil {
				return r, fmt.Errorf("probe.txt:%d: %w", s.line, err)
			}
			continue
		}
		r.requests++
		mine, err := ours.play(ctx, s)
		if err != nil {
			return r, fmt.Errorf("%s: %w", s, err)
		}
		theirs, err := other.play(ctx, s)
		if err != nil {
			return r, fmt.Errorf("%s: %w", s, err)
		}
		r.judge(out, s, mine, theirs)
	}
	return r, nil
}

// judge counts how two answers to one request differ, and prints it. Theirs is that of
// the real cloud.
func (r *result) judge(out io.Writer, s step, mine, theirs map[string]string) {
	var lines []string
	for _, path := range differingPaths(mine, theirs) {
		_, told := mine[path]
		_, known := s.differs[path]
		delete(s.differs, path)
		switch {
		case !told && unread.MatchString(path):
		case known, made.MatchString(path):
			r.accepted++
		default:
			lines = append(lines, fmt.Sprintf("%s: simulated %s, real %s", path, showValue(mine, path), showValue(theirs, path)))
		}
	}
	for path := range s.differs {
		lines = append(lines, path+": does not differ any more; take the line away")
	}
	if len(lines) > 0 {
		fmt.Fprintf(out, "%s\n    %s\n", s, strings.Join(lines, "\n    "))
	}
	r.differences += len(lines)
}

// play sends one request of the script and returns the answer, its values by path.
func (c *cloud) play(ctx context.Context, s step) (map[string]string, error) {
	path, err := c.fill(s.path)
	filled, other := c.fill(s.body)
	if err := errors.Join(err, other); err != nil {
		return nil, err
	}
	var body any
	if filled != "" {
		body = json.RawMessage(filled)
	}
	header := http.Header{}
	for key := range s.header {
		value, err := c.fill(s.header.Get(key))
		if err != nil {
			return nil, err
		}
		header.Set(key, value)
	}
	got, err := c.do(ctx, s.method, s.api, path, body, header)
	if err != nil {
		return nil, err
	}
	for path, name := range s.keep {
		switch value := valueAt(got.body, path).(type) {
		case string:
			c.known[name] = value
		case float64:
			c.known[name] = fmt.Sprint(value)
		default:
			return nil, fmt.Errorf("%s: the answer has no %s: %d %v", c.name, path, got.status, got.body)
		}
	}
	flat := map[string]string{"status": fmt.Sprint(got.status)}
	flattenValues(flat, "", c.plain(got.body))
	return flat, nil
}

// What differs from run to run, and what stands for it.
var (
	identifier = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b`)
	revision   = regexp.MustCompile(`current revision is \d+`)
	instant    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|\.\d+Z?)?$`)
	hardware   = regexp.MustCompile(`^([0-9a-f]{2}:){5}[0-9a-f]{2}$`)
	choices    = regexp.MustCompile(`should be one of: .*$`)
	host       = regexp.MustCompile(`http://127\.0\.0\.1:\d+(/load-balancer|/network)?`)
)

var (
	// unread are what only the real cloud tells, and neither Berth nor the official
	// controller reads.
	unread = regexp.MustCompile(`(^|\.)(availability_zone_hints|availability_zones|ipv[46]_address_scope|is_default|l2_adjacency|allowed_address_pairs|extra_dhcp_opts|binding:vnic_type|subnetpool_id|ipv6_ra_mode|ipv6_address_mode|service_types|normalized_cidr|remote_address_group_id|standard_attr_id|description|tenant_id|tags|revision_number|created_at|updated_at|mtu)(\.|$)`)
	// made are what depends on how the real cloud here was made: it has no agents that
	// would bring floating IPs up, whether members made with a health check begin as
	// OFFLINE or NO_MONITOR depends on what it still remembers of the pool, rules have no descriptions without an extension, and
	// revisions count what was done before.
	made = regexp.MustCompile(`^floatingips?\.(\d+\.)?status$|(^|\.)security_group_rules?\.(\d+\.)?description$|(^|\.)revision_number$|members\.\d+\.operating_status$`)
)

// plain is a document with names instead of what each cloud chooses itself, and lists
// in an order that does not depend on that.
func (c *cloud) plain(v any) any {
	switch v := v.(type) {
	case document:
		out := document{}
		for key, value := range v {
			out[key] = c.plain(value)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, value := range v {
			out = append(out, c.plain(value))
		}
		slices.SortFunc(out, func(a, b any) int { return strings.Compare(sortKey(a), sortKey(b)) })
		return out
	case string:
		return c.plainText(v)
	}
	return v
}

// sortKey returns the values that the requests choose.
func sortKey(v any) string {
	out := ""
	for _, key := range []string{"id", "name", "address", "cidr", "direction", "ethertype", "protocol", "protocol_port", "port_range_min"} {
		out += fmt.Sprint(valueAt(v, key), " ")
	}
	return out + fmt.Sprint(v)
}

func (c *cloud) plainText(text string) string {
	for _, name := range c.names() {
		text = strings.ReplaceAll(text, c.known[name], "$"+name)
	}
	if c.project != "" {
		text = strings.ReplaceAll(text, c.project, "<project>")
	}
	text = identifier.ReplaceAllString(text, "<id>")
	text = host.ReplaceAllString(text, "<host>")
	text = choices.ReplaceAllString(text, "should be one of: <any order>")
	text = revision.ReplaceAllString(text, "current revision is <n>")
	text = instant.ReplaceAllString(text, "<time>")
	return hardware.ReplaceAllString(text, "<mac>")
}

// names are those of values that are the cloud's own choice, long values first. Short
// numbers would be found everywhere.
func (c *cloud) names() []string {
	var out []string
	for name, value := range c.known {
		if len(value) > 6 {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if by := len(c.known[b]) - len(c.known[a]); by != 0 {
			return by
		}
		return strings.Compare(a, b)
	})
	return out
}

// flattenValues writes the values of a document under their paths.
func flattenValues(out map[string]string, prefix string, v any) {
	inner := func(key string) string { return strings.TrimPrefix(prefix+"."+key, ".") }
	switch v := v.(type) {
	case document:
		for key, value := range v {
			flattenValues(out, inner(key), value)
		}
	case []any:
		if len(v) == 0 {
			out[prefix] = "[]"
		}
		for i, value := range v {
			flattenValues(out, inner(fmt.Sprint(i)), value)
		}
	case nil:
		if prefix != "" {
			out[prefix] = "null"
		}
	default:
		text, _ := json.Marshal(v) // it was decoded from JSON
		out[strings.TrimPrefix(prefix, ".")] = string(text)
	}
}

func differingPaths(a, b map[string]string) []string {
	var out []string
	for path := range a {
		if b[path] != a[path] {
			out = append(out, path)
		}
	}
	for path := range b {
		if _, both := a[path]; !both {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

func showValue(said map[string]string, path string) string {
	if value, there := said[path]; there {
		return value
	}
	return "nothing"
}
