package page

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/berth-lb/berth/test/page/bundle"
)

const product = "../../service/page"

// Limits of what a browser loads before it shows anything.
const (
	mostBytes  = 120 << 10
	mostZipped = 40 << 10
)

// TestBundle bundles again: the embedded files are the ones that the sources give.
func TestBundle(t *testing.T) {
	files, err := bundle.Files(product + "/web")
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	size := 0
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(product, "dist", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("dist/%s does not follow from its sources: run make docs", name)
		}
		if name == "licenses.txt" {
			continue
		}
		size += len(got)
		if _, err := w.Write(got); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if size > mostBytes || zipped.Len() > mostZipped {
		t.Errorf("%d bytes, %d zipped, more than %d and %d", size, zipped.Len(), mostBytes, mostZipped)
	}
}
