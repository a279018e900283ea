package arch

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// machineWords matches text that belongs to a developer's machine and not to the repository:
// absolute paths of a home or working folder, and package proxies. The pattern is assembled
// so that it does not match itself.
func machineWords() *regexp.Regexp {
	folders := strings.Join([]string{"work", "root", "Users", "home/[a-z]+"}, "|")
	proxies := strings.Join([]string{`proxy\.golang\.` + "org", `go` + `proxy\.[a-z]`, "artifac" + "tory"}, "|")
	return regexp.MustCompile(`(?:^|[\s"'=:(` + "`" + `])/(?:` + folders + `)/|` + proxies)
}

// MachineWords finds them in a file of any sort. Sums of modules are generated.
func MachineWords(t Text) []Finding {
	if path.Base(t.Path) == "go.sum" || !utf8.Valid(t.Body) {
		return nil
	}
	var out []Finding
	for i, line := range strings.Split(string(t.Body), "\n") {
		if found := machineWords().FindString(line); found != "" {
			out = append(out, Finding(fmt.Sprintf("%s:%d: %q", t.Path, i+1, strings.TrimSpace(found))))
		}
	}
	return out
}

// Requirements lists the direct requirements of a go.mod.
func Requirements(goMod string) []string {
	var out []string
	inside := false
	for line := range strings.Lines(goMod) {
		line = strings.TrimSpace(line)
		switch line {
		case "require (":
			inside = true
			continue
		case ")":
			inside = false
		}
		one, single := strings.CutPrefix(line, "require ")
		if single {
			line = one
		}
		if fields := strings.Fields(line); (inside || single) && len(fields) == 2 {
			out = append(out, fields[0])
		}
	}
	return out
}

// Undocumented lists the direct requirements that the text does not name in code
// quotes, and the rows of its table that are no requirements any more.
func Undocumented(goMod, text string) []Finding {
	var out []Finding
	required := map[string]bool{}
	for _, name := range Requirements(goMod) {
		required[name] = true
		if !strings.Contains(text, "| `"+name+"` |") {
			out = append(out, Finding(name+": required and not explained"))
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(text, -1) {
		if !required[row[1]] {
			out = append(out, Finding(row[1]+": explained and not required"))
		}
	}
	return out
}
