package golden

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// File is a text file in parts: a comment, and then the parts, each below a line of its
// own, "-- name --".
type File struct {
	Path    string
	Comment string
	parts   []part
}

// part is one part of a file. Its text is empty or ends with a newline.
type part struct{ name, text string }

// Read reads a file in parts.
func Read(t testing.TB, path string) *File {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(path, string(text))
}

// parse takes the text of a file apart.
func parse(path, text string) *File {
	f := &File{Path: path}
	into := &f.Comment
	for line := range strings.Lines(text) {
		if name, is := heading(line); is {
			f.parts = append(f.parts, part{name: name})
			into = &f.parts[len(f.parts)-1].text
			continue
		}
		*into += ended(line)
	}
	return f
}

// heading returns the name of the part that begins with a line; is tells whether one does.
func heading(line string) (name string, is bool) {
	name, begins := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
	name, ends := strings.CutSuffix(name, " --")
	return name, begins && ends
}

// ended returns a text with a newline at its end, unless it is empty.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// Part returns the text of a part; there tells whether the file has it.
func (f *File) Part(name string) (text string, there bool) {
	i := f.index(name)
	if i < 0 {
		return "", false
	}
	return f.parts[i].text, true
}

func (f *File) index(name string) int {
	return slices.IndexFunc(f.parts, func(p part) bool { return p.name == name })
}

// Check compares got with a part. A missing part is a failure, not an empty
// expectation. With -update the part is written instead, behind the others if it is new.
func (f *File) Check(t testing.TB, name, got string) {
	t.Helper()
	got = ended(got)
	if *update {
		f.put(name, got)
		write(t, f.Path, f.text())
		return
	}
	want, there := f.Part(name)
	if !there {
		t.Fatalf("%s has no %s (run the test with -update and read what it writes)", f.Path, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s differs (-want +got):\n%s", f.Path, name, diff)
	}
}

func (f *File) put(name, text string) {
	if i := f.index(name); i >= 0 {
		f.parts[i].text = text
		return
	}
	f.parts = append(f.parts, part{name, text})
}

// text is the whole file.
func (f *File) text() string {
	var out strings.Builder
	out.WriteString(f.Comment)
	for _, p := range f.parts {
		out.WriteString("-- " + p.name + " --\n" + p.text)
	}
	return out.String()
}
