package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	only := flag.String("only", "", "regular expression for the names of the mutants; empty: all")
	find := flag.Bool("find", false, "search for a test that finds each mutant, in place of the one in mutants.yaml")
	flag.Parse()
	if err := measureScore(context.Background(), *only, *find); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measureScore prints which mutants are found, and fails if one is not.
func measureScore(ctx context.Context, only string, find bool) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	names, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	all, err := readMutants(filepath.Join(root, "test", "mutants", "mutants.yaml"))
	if err != nil {
		return err
	}
	b, err := newBench(root, all, os.Stdout)
	if err != nil {
		return err
	}
	var selected []Mutant
	for _, m := range all {
		if names.MatchString(m.Name) {
			selected = append(selected, m)
		}
	}
	if find {
		return searchTests(ctx, b, selected)
	}
	return runTests(ctx, b, selected)
}

// searchTests prints a test that finds each of the mutants.
func searchTests(ctx context.Context, b *bench, mutants []Mutant) error {
	built := map[string]bool{}
	for _, m := range mutants {
		for _, pkg := range packagesNear(m.File) {
			if built[pkg] {
				continue
			}
			built[pkg] = true
			if err := b.build(ctx, []string{pkg}); err != nil {
				return err
			}
			if failed, err := b.run(ctx, pkg, "", ""); failed != "" || err != nil {
				return fmt.Errorf("%s fails without a mutant: %s: %w", pkg, failed, err)
			}
		}
		began := time.Now()
		by, err := b.find(ctx, m)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s (%v)\n", m.Name, orElse(by, "NOT FOUND"), time.Since(began).Round(100*time.Millisecond))
	}
	return nil
}

// runTests runs the test of each mutant.
func runTests(ctx context.Context, b *bench, mutants []Mutant) error {
	found, kept, missed := 0, 0, []string{}
	if err := b.build(ctx, packagesOf(mutants)); err != nil {
		return err
	}
	for _, m := range mutants {
		if m.By == "" {
			kept++
			fmt.Printf("%s: not found: %s\n", m.Name, m.Kept)
			continue
		}
		yes, err := b.isFound(ctx, m)
		switch {
		case err != nil:
			return err
		case yes:
			found++
		default:
			missed = append(missed, m.Name)
			fmt.Printf("%s: NOT FOUND by %s: %s\n", m.Name, m.By, m.Why)
		}
	}
	fmt.Printf("%d mutants: %d found, %d kept with a reason, %d not found\n", len(mutants), found, kept, len(missed))
	if len(missed) > 0 {
		return fmt.Errorf("not found: %v", missed)
	}
	return nil
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
