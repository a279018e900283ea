package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModuleRoot(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "test", "controlplane", "go.mod")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if root, err := moduleRoot(); err == nil {
		t.Errorf("outside: want an error, got %s", root)
	}
}

func TestSourceSumChangesWithTheSource(t *testing.T) {
	dir := t.TempDir()
	sums := map[string]string{}
	for _, step := range []struct {
		name, file, text string
		isNew            bool
	}{
		{"first", "go.mod", "module x\n", true},
		{"a test is no source", "a_test.go", "package a\n", false},
		{"a page is no source", "README.md", "text\n", false},
		{"code", "a.go", "package a\n", true},
		{"changed code", "a.go", "package b\n", true},
	} {
		if err := os.WriteFile(filepath.Join(dir, step.file), []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := sourceSum(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, known := sums[sum]; known == step.isNew {
			t.Errorf("%s: want a new sum %v, got %s", step.name, step.isNew, sum)
		}
		sums[sum] = step.name
	}
}

func TestLineWriterHandsOnWholeLines(t *testing.T) {
	var got []string
	w := &lineWriter{write: func(line []byte) { got = append(got, string(line)) }}
	for _, text := range []string{"a", "b\nc\nd", "", "\n"} {
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("write: want %d bytes, got %d, %v", len(text), n, err)
		}
	}
	if diff := cmp.Diff([]string{"ab\n", "c\n", "d\n"}, got); diff != "" {
		t.Errorf("lines differ (-want +got):\n%s", diff)
	}
}

func TestArgs(t *testing.T) {
	got := Options{
		SingleStack: true, NoEndpointSlices: true, Audit: true, EmulatedVersion: "1.34", NoWatchLists: true,
		Tokens: []Token{{Name: "ctl", User: "system:serviceaccount:a:b", Groups: []string{"x", "y"}}},
	}.args("out")
	want := []string{
		"up", "--out=out", "--dual-stack=false", "--endpointslices=false", "--audit", "--emulated-version=1.34", "--watch-lists=false",
		"--token=ctl=system:serviceaccount:a:b=x,y",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments differ (-want +got):\n%s", diff)
	}
}
