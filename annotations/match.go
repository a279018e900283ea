package annotations

import (
	"regexp"
	"strings"
)

const (
	portMark      = "<PORT>"
	portMarkLower = "{port}"
	protocolMark  = "<PROTOCOL>"
)

// portMarkOf is the mark for a port in a name, in the form in which the cloud's
// own documentation writes it; "" if there is none.
func portMarkOf(name string) string {
	for _, mark := range []string{portMark, portMarkLower} {
		if strings.Contains(name, mark) {
			return mark
		}
	}
	return ""
}

// fillPort puts a number in the place of the mark.
func fillPort(name, number string) string {
	if mark := portMarkOf(name); mark != "" {
		return strings.Replace(name, mark, number, 1)
	}
	return name
}

// matcher recognises one spelling of a key.
type matcher struct {
	text string
	re   *regexp.Regexp // nil: the text itself
}

func newMatchers(anyCase bool, texts []string) []matcher {
	out := make([]matcher, 0, len(texts))
	for _, text := range texts {
		out = append(out, newMatcher(anyCase, text))
	}
	return out
}

// newMatcher compiles a key with marks. The port is matched loosely, so that an
// invalid one is reported as a bad port and not as an unknown key.
func newMatcher(anyCase bool, text string) matcher {
	tail, wild := strings.CutSuffix(text, "*")
	if !anyCase && !wild && !strings.Contains(text, "<") && portMarkOf(text) == "" {
		return matcher{text: text}
	}
	expr := regexp.QuoteMeta(tail)
	if mark := portMarkOf(tail); mark != "" {
		expr = strings.Replace(expr, regexp.QuoteMeta(mark), `(?P<port>[0-9A-Za-z-]*)`, 1)
	}
	expr = strings.Replace(expr, protocolMark, `(?P<protocol>[0-9A-Za-z_]*)`, 1)
	if wild {
		expr += ".*"
	}
	if anyCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile("^(?:" + expr + ")$")
	if err != nil {
		// Only text that is not UTF-8 gets here; NewSet refuses such a name.
		return matcher{text: text}
	}
	return matcher{text: text, re: re}
}

// match returns the texts in the place of the marks.
func (m matcher) match(key string) (port, protocol string, ok bool) {
	if m.re == nil {
		return "", "", key == m.text
	}
	groups := m.re.FindStringSubmatch(key)
	if groups == nil {
		return "", "", false
	}
	for i, name := range m.re.SubexpNames() {
		switch name {
		case "port":
			port = groups[i]
		case "protocol":
			protocol = groups[i]
		}
	}
	return port, protocol, true
}
