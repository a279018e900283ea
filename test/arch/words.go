package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Phrase is wording that the project does not use. Readers of Go and Kubernetes
// code expect the field's own term instead.
type Phrase struct {
	Name    string // as findings call it
	Instead string // what to write
	In      Place
	pattern *regexp.Regexp
}

// Place says which text a phrase is searched in.
type Place int

const (
	// Prose is comments, string literals of code that is no test, and Markdown.
	Prose Place = iota
	// Names is declared identifiers of Go.
	Names
	// Functions is names of functions without a receiver.
	Functions
	// Sentences is the length of sentences in Markdown.
	Sentences
)

// maxSentence is the number of words from which on a sentence of the documentation
// counts as too long.
const maxSentence = 30

// Phrases lists the wording that is refused.
func Phrases() []Phrase {
	prose := func(name, pattern, instead string) Phrase {
		return Phrase{Name: name, Instead: instead, pattern: regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`)}
	}
	return []Phrase{
		prose("person", `some`+`body|no`+`body|any`+`body|every`+`body|who`+`ever|some`+`one else`, "the actor: the user, the operator, another controller, the caller"),
		prose("who", `who|whom`, "the actor: the user, the operator, the process that"),
		prose("tells-whether", `(?:tells?|says?|told|said|knows?) (?:whether|if)`, "reports whether"),
		prose("is-told", `(?:is|are|was|were|be|been) told|told of|told with|told by`, "is reported, receives"),
		prose("goes", `goes|comes|(?:is|are|was|were|has|have) gone|came|went`, "is deleted, is created, arrives, follows"),
		prose("anew", `an`+`ew|made again|make again|makes again`, "recreate, again"),
		prose("is-there", `(?:is|are|was|were) (?:not |still )?there|what is there|nothing is there`, "exists, is found, existing"),
		prose("those-that", `those that|that of which|all that|that which|what is (?:wanted|found|known|said|asked|read|made|given|left|meant|new|ours|shared)`, "a noun: the resources that, the desired stack"),
		prose("for-good", `for good`, "permanently, until restart"),
		prose("put-right", `puts? right|lets? go of|looked at again|looks? again|in the way of|stands? in the way|takes? the place of`, "correct, release, requeue, is blocked by, replaces"),
		prose("metaphor", `errands?|newcomers?|glimpse[ds]?|rivals?|guilty|patients?|errand|mended|mishaps?|strangers?`, "the field's term, see the glossary"),
		{Name: "metaphor-name", In: Names, Instead: "a name for what the thing is", pattern: regexp.MustCompile(`(?i)errand|newcomer|glimpse|rival|guilty|mishap|stranger|commons|unmake|anew|patient|stray|nobody|somebody`)},
		{Name: "preposition-func", In: Functions, Instead: "verb and object", pattern: regexp.MustCompile(`^(?:of|at|in|on|by|to|from|with|without|beside|besides|around|below|above|after|before|behind|upon|under|over|within|between|among|front|out|off|here|there|up|down|for|one|all|it|as|so|then|else)$`)},
		{Name: "lone-func", In: Functions, Instead: "verb and object", pattern: regexp.MustCompile(`^[a-z]+$`)},
		{Name: "long-sentence", In: Sentences, Instead: fmt.Sprintf("at most %d words", maxSentence)},
	}
}

// Offence is one place that uses a phrase.
type Offence struct {
	Phrase string
	At     string // file, line and the text that was found
}

// Offences lists what a tree of files uses of the phrases.
func Offences(texts []Text, sources []Source) []Offence {
	var out []Offence
	for _, s := range sources {
		for _, p := range Phrases() {
			out = append(out, p.inSource(s)...)
		}
	}
	for _, t := range texts {
		if path.Ext(t.Path) != ".md" || strings.Contains("/"+t.Path, "/testdata/") {
			continue
		}
		for _, p := range Phrases() {
			out = append(out, p.inPage(t)...)
		}
	}
	return out
}

func (p Phrase) offence(file string, line int, found string) Offence {
	return Offence{Phrase: p.Name, At: file + ":" + strconv.Itoa(line) + ": " + strconv.Quote(found)}
}

// FindPhrases returns a finding for each offence, with the wording to write instead.
func FindPhrases(offences []Offence) []Finding {
	instead := map[string]string{}
	for _, p := range Phrases() {
		instead[p.Name] = p.Instead
	}
	var out []Finding
	for _, o := range offences {
		out = append(out, Finding(fmt.Sprintf("%s (%s); write: %s", o.At, o.Phrase, instead[o.Phrase])))
	}
	return out
}

// inSource returns the offences of one Go file. This package is left out where it
// names the phrases.
func (p Phrase) inSource(s Source) []Offence {
	if strings.HasPrefix(s.Path, "test/arch/words") {
		return nil
	}
	switch p.In {
	case Prose:
		return append(p.inComments(s), p.inLiterals(s)...)
	case Names:
		return p.inNames(s)
	case Functions:
		return p.inFunctions(s)
	case Sentences:
	}
	return nil
}

func (p Phrase) inComments(s Source) []Offence {
	var out []Offence
	for _, group := range s.File.Comments {
		line := s.Set.Position(group.Pos()).Line
		for _, found := range p.pattern.FindAllString(strings.Join(strings.Fields(group.Text()), " "), -1) {
			out = append(out, p.offence(s.Path, line, found))
		}
	}
	return out
}

func (p Phrase) inLiterals(s Source) []Offence {
	if s.IsTest() {
		return nil
	}
	var out []Offence
	ast.Inspect(s.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING && strings.Contains(n.Value, " ") {
				for _, found := range p.pattern.FindAllString(n.Value, -1) {
					out = append(out, p.offence(s.Path, s.Set.Position(n.Pos()).Line, found))
				}
			}
		}
		return true
	})
	return out
}

// inNames looks at the declarations of a file: packages, types, functions, fields,
// constants and variables.
func (p Phrase) inNames(s Source) []Offence {
	var out []Offence
	ast.Inspect(s.File, func(n ast.Node) bool {
		var names []*ast.Ident
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = []*ast.Ident{n.Name}
		case *ast.TypeSpec:
			names = []*ast.Ident{n.Name}
		case *ast.ValueSpec:
			names = n.Names
		case *ast.Field:
			names = n.Names
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names = append(names, id)
				}
			}
		}
		for _, id := range names {
			if p.pattern.MatchString(id.Name) {
				out = append(out, p.offence(s.Path, s.Set.Position(id.Pos()).Line, id.Name))
			}
		}
		return true
	})
	return out
}

func (p Phrase) inFunctions(s Source) []Offence {
	var out []Offence
	for _, d := range s.File.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && f.Name.Name != "main" && f.Name.Name != "init" && p.pattern.MatchString(f.Name.Name) {
			out = append(out, p.offence(s.Path, s.Set.Position(f.Pos()).Line, f.Name.Name))
		}
	}
	return out
}

// codeQuotes matches text in code quotes, which is not prose.
func codeQuotes() *regexp.Regexp { return regexp.MustCompile("`[^`]*`") }

// sentenceEnd matches the end of a sentence.
func sentenceEnd() *regexp.Regexp { return regexp.MustCompile(`[.:;!?](?:\s|$)`) }

// inPage returns the offences of a page of Markdown, without its code blocks.
func (p Phrase) inPage(t Text) []Offence {
	if p.In != Prose && p.In != Sentences {
		return nil
	}
	var out []Offence
	for _, paragraph := range splitParagraphs(string(t.Body)) {
		text := codeQuotes().ReplaceAllString(paragraph.text, "X")
		if p.In == Prose {
			for _, found := range p.pattern.FindAllString(text, -1) {
				out = append(out, p.offence(t.Path, paragraph.line, found))
			}
			continue
		}
		if strings.HasPrefix(paragraph.text, "|") { // a table has no sentences
			continue
		}
		for _, one := range sentenceEnd().Split(text, -1) {
			if words := strings.Fields(one); len(words) > maxSentence {
				out = append(out, p.offence(t.Path, paragraph.line, strings.Join(words[:6], " ")+" ..."))
			}
		}
	}
	return out
}

type paragraph struct {
	line int
	text string
}

// splitParagraphs splits Markdown into paragraphs, items of lists and rows of tables;
// code blocks are left out.
func splitParagraphs(page string) []paragraph {
	var out []paragraph
	open, fenced := false, false
	for i, line := range strings.Split(page, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced, open = !fenced, false
		case fenced:
		case trimmed == "":
			open = false
		case open && !startsParagraph(trimmed):
			out[len(out)-1].text += " " + trimmed
		default:
			out = append(out, paragraph{line: i + 1, text: trimmed})
			open = true
		}
	}
	return out
}

func startsParagraph(line string) bool {
	return slices.ContainsFunc([]string{"- ", "* ", "|", "#", "> "}, func(s string) bool { return strings.HasPrefix(line, s) }) ||
		regexp.MustCompile(`^[0-9]+\. `).MatchString(line)
}
