package cases

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/golden"
)

// Parts of a case that are written by hand. All others are generated from them.
const (
	servicePart = "service.yaml" // the Service
	cloudPart   = "cloud.yaml"   // what of the world is another one; missing: nothing
)

// ending is that of the files of cases.
const ending = ".txtar"

// Case is one case of a cloud: a file of testdata in parts, whose first sentence says
// what it is about.
type Case struct {
	*golden.File
	Name string
}

// All returns the cases of testdata, which must be so many at least.
func All(t testing.TB, least int) []Case {
	t.Helper()
	files, err := filepath.Glob("testdata/*" + ending)
	if err != nil || len(files) < least {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	if folders, _ := filepath.Glob("testdata/*/" + servicePart); len(folders) > 0 {
		t.Errorf("a case is one file: %v", folders)
	}
	out := make([]Case, 0, len(files))
	for _, f := range files {
		out = append(out, Open(t, strings.TrimSuffix(f, ending)))
	}
	return out
}

// Open returns the case of a file, which is named without its ending.
func Open(t testing.TB, path string) Case {
	t.Helper()
	c := Case{golden.Read(t, path+ending), filepath.Base(path)}
	if !strings.HasSuffix(c.Comment, ".\n") {
		t.Errorf("%s does not begin with a sentence that says what it is about", c.Path)
	}
	return c
}

// Service reads the Service of the case.
func (c Case) Service(t testing.TB) *corev1.Service {
	t.Helper()
	text, there := c.Part(servicePart)
	if !there {
		t.Fatalf("%s has no %s", c.Path, servicePart)
	}
	out := &corev1.Service{}
	decodeYAML(t, c.Path, text, out)
	return out
}

// World reads the surroundings of the case: the common ones, with the replacements of the
// case. In a field that appended names, the text is appended to the field of the world's
// "config".
func (c Case) World(t testing.TB, into any, appended ...string) {
	t.Helper()
	over, _ := c.Part(cloudPart)
	overlayFields(t, c.Path, over, into, appended...)
}
