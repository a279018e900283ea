package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// update is registered once here, so that every test binary that imports the
// package understands the same flag.
var update = flag.Bool("update", false, "rewrite the golden files with what the tests got")

// Updating reports whether the run rewrites golden files instead of comparing.
func Updating() bool { return *update }

// Check compares got with the file at path. A missing file is a failure, not an
// empty expectation. With -update the file (and its folder) is written instead.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		writeGolden(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("golden file: %v (run the test with -update and read what it writes)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func writeGolden(t testing.TB, path, got string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
}
