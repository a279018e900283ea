package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Module is the path that local imports begin with.
const Module = "github.com/berth-lb/berth"

// Source is one parsed Go file.
type Source struct {
	Path  string // from the root of the repository, with slashes
	Lines int
	Set   *token.FileSet
	File  *ast.File
}

// Dir is the folder of the file, which is its package's path in the repository.
func (s Source) Dir() string { return path.Dir(s.Path) }

// Name is the file's name.
func (s Source) Name() string { return path.Base(s.Path) }

// IsTest reports whether the file is compiled for tests only.
func (s Source) IsTest() bool { return strings.HasSuffix(s.Path, "_test.go") }

// IsMain reports whether the file belongs to a command.
func (s Source) IsMain() bool { return s.File.Name.Name == "main" }

// IsProduct reports whether the file is shipped.
func (s Source) IsProduct() bool { return !s.IsTest() && !strings.HasPrefix(s.Path, "test/") }

// At is a place in the file, for findings.
func (s Source) At(p token.Pos) string { return fmt.Sprintf("%s:%d", s.Path, s.Set.Position(p).Line) }

// Imports lists the imported paths; those of this module without its prefix.
func (s Source) Imports() []string {
	var out []string
	for _, i := range s.File.Imports {
		name := strings.Trim(i.Path.Value, `"`)
		out = append(out, strings.TrimPrefix(name, Module+"/"))
	}
	return out
}

// Parse makes a Source from text.
func Parse(name string, text []byte) (Source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		return Source{}, err
	}
	lines := strings.Count(string(text), "\n")
	return Source{Path: name, Lines: lines, Set: set, File: file}, nil
}

// Text is one file of any sort.
type Text struct {
	Path string
	Body []byte
}

// Walk reads every file below the root but those of git (in a worktree .git is a
// file), build results and hidden folders of editors.
func Walk(root string) ([]Text, error) {
	var out []Text
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && isSkipped(filepath.ToSlash(rel)):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || path.Base(rel) == ".git" || strings.HasPrefix(path.Base(rel), "coverage"):
			return nil
		}
		body, err := os.ReadFile(name) // #nosec G304 G122 -- the files of this repository
		if err != nil {
			return err
		}
		out = append(out, Text{Path: filepath.ToSlash(rel), Body: body})
		return nil
	})
	return out, err
}

func isSkipped(dir string) bool {
	switch path.Base(dir) {
	case ".git", ".idea", ".vscode", "node_modules":
		return true
	}
	return dir == "bin"
}

// Sources parses the Go files among the texts.
func Sources(texts []Text) ([]Source, error) {
	var out []Source
	for _, t := range texts {
		if !strings.HasSuffix(t.Path, ".go") || strings.Contains("/"+t.Path, "/testdata/") {
			continue
		}
		s, err := Parse(t.Path, t.Body)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
