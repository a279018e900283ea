package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFile: a part is compared whether its text ends with a newline or not, and one that
// is put there changes no other.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "case.txt")
	writeGolden(t, path, "Says what it is about.\n-- one --\na\n--- no heading\n\n-- two --\n-- three --\nb")
	f := Read(t, path)
	f.Check(t, "three", "b")
	f.Check(t, "two", "")
	if _, there := f.Part("four"); there || f.Comment != "Says what it is about.\n" {
		t.Errorf("comment %q, a part that does not exist: %v", f.Comment, there)
	}
	defer func(was bool) { *update = was }(*update)
	*update = true
	f.Check(t, "two", "new")
	f.Check(t, "four", "c\n")
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = "Says what it is about.\n-- one --\na\n--- no heading\n\n-- two --\nnew\n-- three --\nb\n-- four --\nc\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("after two changes (-want +got):\n%s", diff)
	}
}
