package server

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		options Options
		ok      bool
	}{
		"one more user":    {Options{Out: "x", Tokens: []Token{{Name: "viewer", User: "v"}}}, true},
		"none":             {Options{Out: "x"}, true},
		"no folder":        {Options{}, false},
		"no user":          {Options{Out: "x", Tokens: []Token{{Name: "viewer"}}}, false},
		"a path":           {Options{Out: "x", Tokens: []Token{{Name: "../v", User: "v"}}}, false},
		"the own name":     {Options{Out: "x", Tokens: []Token{{Name: "admin", User: "v"}}}, false},
		"one name for two": {Options{Out: "x", Tokens: []Token{{Name: "a", User: "v"}, {Name: "a", User: "w"}}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := tc.options.validate(); (err == nil) != tc.ok {
				t.Errorf("want ok %v, got %v", tc.ok, err)
			}
		})
	}
}

func TestWriteTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.csv")
	err := writeTokens(path, []credential{
		{Token: Token{Name: "admin", User: "admin", Groups: []string{"system:masters"}}, secret: "s1"},
		{Token: Token{Name: "two", User: "u:2", Groups: []string{"a", "b"}}, secret: "s2"},
		{Token: Token{Name: "none", User: "u3"}, secret: "s3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "s1,admin,admin,system:masters\ns2,u:2,two,\"a,b\"\ns3,u3,none\n"
	if string(got) != want {
		t.Errorf("want %q\n got %q", want, got)
	}
}

func TestReservedPortIsNotGivenAway(t *testing.T) {
	port, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port.number))
	if listener, err := net.Listen("tcp", address); err == nil {
		_ = listener.Close()
		t.Fatal("another program could listen on the reserved port")
	}
	port.release()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	_ = listener.Close()
}

func TestSweepTakesOnlyOrphans(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	orphan, err := newScratch()
	if err != nil {
		t.Fatal(err)
	}
	orphan.lock.Unlock() // What the kernel does when the owner is killed.
	owned, err := newScratch()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(orphan.dir); !os.IsNotExist(err) {
		t.Errorf("orphaned folder: want it removed, got %v", err)
	}
	removeLeftovers()
	if _, err := os.Stat(owned.dir); err != nil {
		t.Errorf("owned folder: %v", err)
	}
	owned.remove()
	if _, err := os.Stat(owned.dir); !os.IsNotExist(err) {
		t.Errorf("removed folder: want it gone, got %v", err)
	}
}
