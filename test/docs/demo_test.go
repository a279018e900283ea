package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDemosAreListed: the README and the Makefile name every cloud that has a demo, in order.
func TestDemosAreListed(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(root + path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var clouds []string
	for _, m := range regexp.MustCompile(`(?m)^\t+"([a-z]+)": +\{look`).FindAllStringSubmatch(read("/test/demo/show.go"), -1) {
		clouds = append(clouds, m[1])
	}
	slices.Sort(clouds)
	if len(clouds) < 2 {
		t.Fatalf("demos of %q were found in test/demo", clouds)
	}
	if want := "atonce,demo," + strings.Join(clouds, " ") + ","; !strings.Contains(read("/Makefile"), want) {
		t.Errorf("the Makefile does not have %q", want)
	}
	others := slices.DeleteFunc(clouds, func(cloud string) bool { return cloud == "aws" })
	if want := "simulated AWS (CLOUD=" + strings.Join(others, ", ") + ")"; !strings.Contains(read("/README.md"), want) {
		t.Errorf("the README does not have %q", want)
	}
}
