package policy

import (
	"reflect"
	"strings"
	"testing"

	"github.com/berth-lb/berth/annotations"
)

// TestPage wants every key and every thing on the page, and the example to be one.
func TestPage(t *testing.T) {
	page := Reference()
	for _, typ := range []reflect.Type{reflect.TypeFor[File](), reflect.TypeFor[Rule]()} {
		for i := range typ.NumField() {
			key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if typ == reflect.TypeFor[Rule]() {
				key = "rules[]." + key
			}
			if key != "rules" && !strings.Contains(page, "| `"+key+"` |") {
				t.Errorf("%s is not on the page", key)
			}
		}
	}
	for _, thing := range annotations.Things() {
		if describeThings()[thing] == "" {
			t.Errorf("%s is not explained", thing)
		}
	}
	if _, err := Parse([]byte(Example), newKeys(t)); err != nil {
		t.Error(err)
	}
}
