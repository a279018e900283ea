package golden

import (
	"path/filepath"
	"testing"
)

// TestFile: the text of a file is what its parts make, and a part that is put there
// changes no other.
func TestFile(t *testing.T) {
	const whole = "Says what it is about.\n-- one --\na\n--- no heading\n\n-- two --\n-- three --\nb\n"
	f := parse("", whole)
	if f.text() != whole || f.Comment != "Says what it is about.\n" {
		t.Errorf("comment %q, all %q", f.Comment, f.text())
	}
	for name, want := range map[string]string{"one": "a\n--- no heading\n\n", "two": "", "three": "b\n"} {
		if got, there := f.Part(name); !there || got != want {
			t.Errorf("%s: %q, %v", name, got, there)
		}
	}
	if _, there := f.Part("four"); there {
		t.Error("a part is there that nobody wrote")
	}
	f.put("two", "new\n")
	f.put("four", "c\n")
	if want := "Says what it is about.\n-- one --\na\n--- no heading\n\n-- two --\nnew\n-- three --\nb\n-- four --\nc\n"; f.text() != want {
		t.Errorf("after two changes: %q", f.text())
	}
}

// TestRead: what is written is read as it was, and a last line without an end gets one.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "case.txt")
	write(t, path, "Short.\n-- one --\na")
	f := Read(t, path)
	f.Check(t, "one", "a")
	if f.text() != "Short.\n-- one --\na\n" {
		t.Errorf("%q", f.text())
	}
}
