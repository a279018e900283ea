package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// header is the first line of the table, by which it is found.
const header = "| Suite | Processor seconds | Measured | On |"

// least is from how many seconds a package has a row.
const least = 1

// row is one measurement.
type row struct {
	suite        string
	seconds      float64
	day, machine string
}

func (r row) String() string {
	return fmt.Sprintf("| %#q | %.0f | %s | %s |", r.suite, r.seconds, r.day, r.machine)
}

// updateTable returns the page with new rows. Packages without a new one keep theirs while
// they exist.
func updateTable(page string, rows []row, all []suite) (string, error) {
	start := strings.Index(page, header+"\n")
	if start < 0 {
		return "", errors.New("there is no table that begins with: " + header)
	}
	lines := strings.SplitAfter(page[start:], "\n")
	end := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "|") })
	if end < 0 {
		end = len(lines)
	}
	known := map[string]bool{}
	for _, s := range all {
		known[s.name] = true
	}
	for _, r := range rows {
		known[r.suite] = false // its old row is replaced
	}
	rows = slices.Clone(rows)
	for _, line := range lines[min(2, end):end] {
		old, err := parseRow(line)
		if err != nil {
			return "", err
		}
		if known[old.suite] {
			rows = append(rows, old)
		}
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.seconds < least })
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.suite, b.suite))
	})
	out := page[:start] + header + "\n|---|---|---|---|\n"
	for _, r := range rows {
		out += r.String() + "\n"
	}
	return out + strings.Join(lines[end:], ""), nil
}

// parseRow reads a line of the table.
func parseRow(line string) (row, error) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	if len(cells) != 4 {
		return row{}, fmt.Errorf("want 4 cells: %s", line)
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	seconds, err := strconv.ParseFloat(cells[1], 64)
	if err != nil {
		return row{}, fmt.Errorf("the seconds of %s: %w", cells[0], err)
	}
	return row{suite: strings.Trim(cells[0], "`"), seconds: seconds, day: cells[2], machine: cells[3]}, nil
}
