package blocks

import (
	"regexp"
	"strings"
)

// Block is one fenced block of a page.
type Block struct {
	Language string
	NotRun   string   // the reason why no test runs the commands
	Line     int      // of the fence, from 1 on
	Lines    []string // without the indentation of the fence
}

// Reasons returns the legal values of not-run, with their meaning.
func Reasons() map[string]string {
	return map[string]string{
		"cluster": "reads or changes a cluster with a controller, which the end-to-end tests do by their own commands",
		"target":  "a target of the Makefile or of CI, which CI runs itself or which takes long",
		"tool":    "calls a program that is not part of the repository",
		"process": "runs until it is ended",
	}
}

// fence matches the first line of a block.
var fence = regexp.MustCompile("^( *)```([a-z]*)((?: [a-z-]+=[a-z]+)*)$")

// Read returns the blocks of a page in order.
func Read(page string) []Block {
	var out []Block
	inside, indent := false, ""
	for i, line := range strings.Split(page, "\n") {
		switch m := fence.FindStringSubmatch(line); {
		case inside && strings.TrimSpace(line) == "```":
			inside = false
		case inside:
			last := &out[len(out)-1]
			last.Lines = append(last.Lines, strings.TrimPrefix(line, indent))
		case m != nil:
			inside, indent = true, m[1]
			out = append(out, Block{Language: m[2], NotRun: strings.TrimPrefix(m[3], " not-run="), Line: i + 1})
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			inside, indent = true, ""
			out = append(out, Block{Language: "illegal: " + strings.TrimSpace(line), Line: i + 1})
		}
	}
	return out
}

// HasCommands reports whether a block is for a shell.
func (b Block) HasCommands() bool { return b.Language == "sh" || b.Language == "console" }

// Command is one command of a block with the output that the page shows.
type Command struct {
	Text   string
	Output []string // nil: the page shows none
}

// prompt begins a command in a transcript.
const prompt = "$ "

// Commands returns the commands of a block. Lines that end in a backslash continue.
func (b Block) Commands() []Command {
	var out []Command
	continued := false
	for _, line := range b.Lines {
		text, prompted := strings.CutPrefix(line, prompt)
		switch {
		case continued:
			out[len(out)-1].Text += "\n" + line
		case b.Language == "console" && !prompted:
			if len(out) > 0 {
				out[len(out)-1].Output = append(out[len(out)-1].Output, line)
			}
			continue
		case strings.TrimSpace(line) == "":
			continue
		default:
			out = append(out, Command{Text: text})
		}
		continued = strings.HasSuffix(line, `\`)
	}
	return out
}

// omission is a line in place of any number of lines of the output.
const omission = "..."

// Shows reports whether a page shows the output of a command: its lines in their order, with
// omissions, without spaces at the end and empty lines.
func (c Command) Shows(output string) bool {
	got, want := trimLines(strings.Split(output, "\n")), trimLines(c.Output)
	return showsFrom(want, got)
}

// showsFrom compares the rest of both texts.
func showsFrom(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(want[0]) != omission {
		return len(got) > 0 && want[0] == got[0] && showsFrom(want[1:], got[1:])
	}
	for i := range len(got) + 1 {
		if showsFrom(want[1:], got[i:]) {
			return true
		}
	}
	return false
}

func trimLines(lines []string) []string {
	var out []string
	for _, line := range lines {
		if line = strings.TrimRight(line, " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}
