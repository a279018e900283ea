package arch

import "strings"

// Finding is one violation: where, and what is wrong.
type Finding string

// Rule judges one file.
type Rule struct {
	Name   string
	Reason string // why the rule exists; printed with its findings
	Check  func(Source) []Finding
	// Bad is a file in which the rule must find something, so that a rule that no longer
	// matches is noticed.
	Bad Example
}

// Example is a small file for a rule's own test.
type Example struct{ Path, Text string }

// Rules lists every rule about single Go files.
func Rules() []Rule {
	return []Rule{
		{
			Name: "imports", Check: checkImports,
			Reason: "the folders are the architecture: an import that the table in layout.go does not have is a decision, not a detail",
			Bad:    Example{"stack/bad.go", "package stack\n\nimport _ \"net/http\"\n"},
		},
		{
			Name: "file size", Check: fileSize,
			Reason: "a file is read in one sitting; only outliers rot",
			Bad:    Example{"stack/long.go", "package stack\n" + formatLines(maxFile)},
		},
		{
			Name: "function size", Check: functionSize,
			Reason: "a function is read on one screen; a longer one says why right above: // long: <reason>",
			Bad:    Example{"stack/long.go", "package stack\n\nfunc long() {\n" + formatLines(maxFunction+1) + "}\n"},
		},
		{
			Name: "struct size", Check: structSize,
			Reason: "a struct with many fields is several values: group them",
			Bad:    Example{"stack/wide.go", "package stack\n\ntype wide struct {\n" + wideFields(maxFields+1) + "}\n"},
		},
		{
			Name: "no mocks", Check: noMocks,
			Reason: "a mock repeats the code under test; the pure half is tested with values, the rest against simulators",
			Bad:    Example{"stack/mock_test.go", "package stack\n\ntype MockCloud struct{}\n"},
		},
		{
			Name: "clock", Check: findClocks,
			Reason: "a clock that is passed in can be tested without waiting",
			Bad:    Example{"stack/late.go", "package stack\n\nimport \"time\"\n\nvar Now = time.Now\n"},
		},
		{
			Name: "package variables", Check: packageVariables,
			Reason: "what two tests can both write to makes them depend on each other",
			Bad:    Example{"stack/state.go", "package stack\n\nvar seen = map[string]bool{}\n"},
		},
		{
			Name: "goroutines", Check: findGoroutines,
			Reason: "pure code has answered when it returns",
			Bad:    Example{"stack/race.go", "package stack\n\nfunc f() { go f() }\n"},
		},
		{
			Name: "configured defaults", Check: configuredDefaults,
			Reason: "an empty annotation may override the configuration, which only the declaration of the key knows: read it with Key.Or",
			Bad:    Example{"providers/aws/model/bad.go", "package model\n\nvar x = cmp.Or(schemeKey.Get(in.Values), in.Config.Scheme)\n"},
		},
		{
			Name: "init", Check: noInit,
			Reason: "what runs because something was imported cannot be left out, ordered or tested",
			Bad:    Example{"stack/init.go", "package stack\n\nfunc init() {}\n"},
		},
		{
			Name: "licence header", Check: noHeader,
			Reason: "the LICENSE file holds for all files; a header above the package clause becomes the package's documentation",
			Bad:    Example{"stack/head.go", "// Copyright The Authors\n\npackage stack\n"},
		},
	}
}

func formatLines(n int) string {
	out := make([]byte, 0, n)
	for range n {
		out = append(out, '\n')
	}
	return string(out)
}

// wideFields returns fields for a struct.
func wideFields(n int) string { return strings.Repeat("\tf int\n", n) }
