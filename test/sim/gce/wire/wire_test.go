package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

func TestParseRef(t *testing.T) {
	want := wire.Ref{Project: "p", Scope: "regions/r", Collection: "addresses", Name: "a"}
	for _, text := range []string{
		"https://www.googleapis.com/compute/v1/projects/p/regions/r/addresses/a", "https://compute.googleapis.com/compute/beta/projects/p/regions/r/addresses/a",
		"http://127.0.0.1:1/compute/v1/projects/p/regions/r/addresses/a", "projects/p/regions/r/addresses/a", "/regions/r/addresses/a", "regions/r/addresses/a",
	} {
		got, err := wire.ParseRef(text, "p", "addresses", "f")
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", text, diff)
		}
	}
	for _, text := range []string{
		"", "a", "addresses/a", "regions/r/addresses", "regions/r/addresses/a/b", "regions//addresses/a", "regions/r/addresses/", "planets/r/addresses/a",
		"https://www.googleapis.com/compute/v1/regions/r/addresses/a", "regions/r/targetPools/a",
	} {
		if got, err := wire.ParseRef(text, "p", "addresses", "f"); err == nil {
			t.Errorf("%q: %+v, want it refused", text, got)
		}
	}
}

func TestNames(t *testing.T) {
	long := "a123456789012345678901234567890123456789012345678901234567890123"
	for name, want := range map[string]bool{
		"a": true, "a-b": true, "a1": true, long[:63]: true, long: false, "": false, "1a": false, "-a": false, "a-": false, "A": false, "a_b": false, "a.b": false,
	} {
		if got := wire.IsName(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestMerge(t *testing.T) {
	old := wire.Object{"a": "1", "b": wire.Object{"c": true, "d": 1.0}, "list": []any{"x", "y"}}
	got := old.Merge(wire.Object{"a": nil, "b": wire.Object{"c": false}, "list": []any{"z"}, "new": "n"})
	want := wire.Object{"b": wire.Object{"c": false, "d": 1.0}, "list": []any{"z"}, "new": "n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(wire.Object{"a": "1", "b": wire.Object{"c": true, "d": 1.0}, "list": []any{"x", "y"}}, old); diff != "" {
		t.Errorf("the old one was changed (-want +got)\n%s", diff)
	}
}

func TestClean(t *testing.T) {
	schema := wire.Schema{
		"text": {}, "word": {Values: []string{"A", "B"}}, "n": {Type: wire.Int}, "set": {Output: true}, "print": {Type: wire.Bytes},
		"list": {List: true}, "inner": {Type: wire.Nested, Fields: wire.Schema{"yes": {Type: wire.Truth}}}, "labels": {Type: wire.Map},
	}
	decode := func(text string) wire.Object {
		o, err := wire.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	got, err := schema.Clean(decode(`{"text": "t", "word": "A", "n": "5", "set": "by me", "list": ["x"], "inner": {"yes": true}, "labels": {"k": "v"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Object{"text": "t", "word": "A", "n": 5.0, "list": []any{"x"}, "inner": wire.Object{"yes": true}, "labels": wire.Object{"k": "v"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, text := range []string{
		`{"ghost": 1}`, `{"text": 1}`, `{"word": "C"}`, `{"n": 1.5}`, `{"n": "five"}`, `{"list": "x"}`, `{"list": [1]}`, `{"inner": {"no": true}}`, `{"inner": {"yes": "true"}}`,
		`{"labels": {"k": 1}}`, `{"print": "not base 64"}`,
	} {
		if got, err := schema.Clean(decode(text)); err == nil {
			t.Errorf("%s: %v, want it refused", text, got)
		}
	}
}

func TestNouns(t *testing.T) {
	for collection, want := range map[string]string{
		"targetPools": "target_pool", "addresses": "address", "networkEndpointGroups": "network_endpoint_group", "backendServices": "backend_service", "httpHealthChecks": "http_health_check",
	} {
		if got := wire.Noun(collection); got != want {
			t.Errorf("%s: %s, want %s", collection, got, want)
		}
	}
}
