package golden

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// File is a text file in parts: a comment, and then the parts, each below a line of its
// own, "-- name --".
type File struct {
	Path    string
	Comment string
	archive *txtar.Archive
}

// Read reads a file in parts.
func Read(t testing.TB, path string) *File {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(text)
	return &File{Path: path, Comment: string(archive.Comment), archive: archive}
}

// Part returns the text of a part; there reports whether the file has it.
func (f *File) Part(name string) (text string, there bool) {
	i := f.index(name)
	if i < 0 {
		return "", false
	}
	return string(f.archive.Files[i].Data), true
}

func (f *File) index(name string) int {
	return slices.IndexFunc(f.archive.Files, func(p txtar.File) bool { return p.Name == name })
}

// Check compares got with a part. A missing part is a failure, not an empty
// expectation. With -update the part is written instead, behind the others if it is new.
func (f *File) Check(t testing.TB, name, got string) {
	t.Helper()
	if *update {
		f.put(name, got)
		writeGolden(t, f.Path, string(txtar.Format(f.archive)))
		return
	}
	want, there := f.Part(name)
	if !there {
		t.Fatalf("%s has no %s (run the test with -update and read what it writes)", f.Path, name)
	}
	if diff := cmp.Diff(want, withNewline(name, got)); diff != "" {
		t.Errorf("%s: %s differs (-want +got):\n%s", f.Path, name, diff)
	}
}

// withNewline returns a text as a part of a file has it: with a newline at its end.
func withNewline(name, text string) string {
	file := txtar.Archive{Files: []txtar.File{{Name: name, Data: []byte(text)}}}
	return string(txtar.Parse(txtar.Format(&file)).Files[0].Data)
}

func (f *File) put(name, text string) {
	if i := f.index(name); i >= 0 {
		f.archive.Files[i].Data = []byte(text)
		return
	}
	f.archive.Files = append(f.archive.Files, txtar.File{Name: name, Data: []byte(text)})
}
