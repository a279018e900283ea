package main

import (
	"reflect"
	"testing"

	"github.com/berth-lb/berth/test/controlplane/server"
)

func TestUpOptions(t *testing.T) {
	got, err := upOptions([]string{
		"--out", "x", "--dual-stack=false", "--watch-lists=false", "--audit", "--emulated-version", "1.34",
		"--token", "ctl=system:serviceaccount:kube-system:berth=system:serviceaccounts,extra", "--token", "viewer=v",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := server.Options{
		Out: "x", EndpointSlices: true, Audit: true, EmulatedVersion: "1.34",
		Tokens: []server.Token{
			{Name: "ctl", User: "system:serviceaccount:kube-system:berth", Groups: []string{"system:serviceaccounts", "extra"}},
			{Name: "viewer", User: "v"},
		},
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("want %+v\n got %+v", want, got)
	}
}

func TestUpOptionsRefuses(t *testing.T) {
	for name, args := range map[string][]string{
		"no folder":        {},
		"a stray argument": {"--out", "x", "y"},
		"a token alone":    {"--out", "x", "--token", "name"},
		"too many parts":   {"--out", "x", "--token", "a=b=c=d"},
		"an unknown flag":  {"--out", "x", "--nope"},
	} {
		if _, err := upOptions(args); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}
