package docs

import (
	"testing"

	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/schemas"
)

// TestSchemaPages compares the published schemas with the Go types.
func TestSchemaPages(t *testing.T) {
	for _, d := range schemas.Documents() {
		text, err := d.Publish()
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		golden.Check(t, root+"/docs/reference/schemas/"+d.Name+".json", text)
	}
}
