package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

//go:embed probe.txt
var probe string

// step is one line of the script: a request, or a wait until load balancers are ready.
type step struct {
	line              int
	method, api, path string
	header            http.Header
	body              string            // JSON; empty: none
	keep              map[string]string // names for values of the answer, by their paths
	wait              bool
	// differs are the paths of the answer that are known to differ, with the reasons.
	differs map[string]string
}

// String is the request as people read it.
func (s step) String() string {
	text := fmt.Sprintf("probe.txt:%d: %s %s %s", s.line, s.method, s.api, s.path)
	if s.body != "" {
		text += " " + s.body
	}
	return text
}

// parseScript reads the script. A line is one of
//
//	# a comment
//	wait
//	METHOD API PATH [Header:value] [BODY] [=> name=path ...]
//	! path reason
//
// of which the last one holds for the request above it.
func parseScript(text string) ([]step, error) {
	var out []step
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "wait":
			out = append(out, step{line: n, wait: true})
		case strings.HasPrefix(line, "! "):
			path, reason, ok := strings.Cut(strings.TrimPrefix(line, "! "), " ")
			if !ok || len(out) == 0 {
				return nil, fmt.Errorf("probe.txt:%d: want ! path reason, below a request", n)
			}
			out[len(out)-1].differs[path] = reason
		default:
			s, err := parseRequest(line)
			if err != nil {
				return nil, fmt.Errorf("probe.txt:%d: %w", n, err)
			}
			s.line = n
			out = append(out, s)
		}
	}
	return out, lines.Err()
}

func parseRequest(line string) (step, error) {
	s := step{keep: map[string]string{}, header: http.Header{}, differs: map[string]string{}}
	request, keeps, _ := strings.Cut(line, " => ")
	for keep := range strings.FieldsSeq(keeps) {
		name, path, ok := strings.Cut(keep, "=")
		if !ok {
			return s, fmt.Errorf("%q: want name=path", keep)
		}
		s.keep[path] = name
	}
	if at := strings.Index(request, " {"); at >= 0 {
		request, s.body = request[:at], strings.TrimSpace(request[at:])
		var any any
		if err := json.Unmarshal([]byte(s.body), &any); err != nil {
			return s, fmt.Errorf("body: %w", err)
		}
	}
	words := strings.Fields(request)
	if len(words) < 3 {
		return s, fmt.Errorf("%q: want METHOD API PATH", request)
	}
	s.method, s.api, s.path = words[0], words[1], words[2]
	for _, h := range words[3:] {
		key, value, _ := strings.Cut(h, ":")
		s.header.Set(key, value)
	}
	return s, nil
}

// reference finds names in requests.
var reference = regexp.MustCompile(`\$[a-z0-9-]+`)

// fill puts what a cloud has under the names into a text of the script.
func (c *cloud) fill(text string) (string, error) {
	var err error
	out := reference.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := c.known[name[1:]]
		if !ok {
			err = fmt.Errorf("%s: nothing is named %s", c.name, name)
		}
		return value
	})
	return out, err
}
