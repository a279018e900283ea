package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everySo is of how many mutants a plain run of the tests tries one; MUTANTS_EVERY=1 tries all.
const everySo = 2

// TestMutants: the tests that are named for mutants find them, and pass without them.
func TestMutants(t *testing.T) {
	root, all := readRepository(t)
	every := everySo
	if text := os.Getenv("MUTANTS_EVERY"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("MUTANTS_EVERY=%q: want a number from 1", text)
		}
		every = n
	}
	b, err := newBench(root, all, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var some []Mutant
	for i, m := range all {
		if m.By != "" && i%every == 0 {
			some = append(some, m)
		}
	}
	if err := b.build(t.Context(), packagesOf(some)); err != nil {
		t.Fatal(err)
	}
	passes := map[string]bool{} // without a mutant
	for _, m := range some {
		pkg, test, _ := strings.Cut(m.By, " ")
		if _, known := passes[m.By]; !known {
			failed, err := b.run(t.Context(), pkg, "^"+test+"$", "")
			if passes[m.By] = failed == "" && err == nil; !passes[m.By] {
				t.Errorf("%s fails without a mutant: %v", m.By, err)
			}
		}
		if !passes[m.By] {
			continue
		}
		if found, err := b.isFound(t.Context(), m); !found || err != nil {
			t.Errorf("%s: %s does not find that %s: %v", m.Name, m.By, m.Why, err)
		}
	}
}

// TestEveryMutantApplies: the text of each mutant occurs once in its file and the test that finds
// it exists, so that no mutant is lost when the product or its tests change.
func TestEveryMutantApplies(t *testing.T) {
	root, all := readRepository(t)
	sources, err := mutateSources(root, all)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 60 || len(sources) < 10 {
		t.Errorf("%d mutants in %d files", len(all), len(sources))
	}
	for _, m := range all {
		if m.By == "" && m.Kept == "" {
			t.Errorf("%s: neither by nor kept", m.Name)
		}
		if m.By != "" && !hasTest(t, root, m.By) {
			t.Errorf("%s: there is no test %s", m.Name, m.By)
		}
	}
}

// hasTest reports whether a package has a test. by is the package and the test, as in Mutant.
func hasTest(t *testing.T, root, by string) bool {
	t.Helper()
	pkg, test, _ := strings.Cut(by, " ")
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "\nfunc "+test+"(")
	})
}

// TestMutantsAreUnique: a mutant whose text is missing, or occurs twice, is refused.
func TestMutantsAreUnique(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n\nvar x = 1 + 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]bool{"x = 1": true, "1": false, "2": false} {
		_, err := mutateSources(root, []Mutant{{Name: "m", File: "a.go", From: from, To: "ON"}})
		if (err == nil) != want {
			t.Errorf("%q: %v", from, err)
		}
	}
}

func readRepository(t *testing.T) (string, []Mutant) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	all, err := readMutants(filepath.Join(root, "test/mutants/mutants.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return root, all
}
