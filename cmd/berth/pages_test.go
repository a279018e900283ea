package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/docs/blocks"
)

// TestPages runs the commands of every page in a shell, each page in a folder of its own. Commands
// succeed, and transcripts have the output that the page shows.
func TestPages(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(file string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".md" {
			pages += runPage(t, root, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages += runPage(t, root, filepath.Join(root, "README.md")); pages < 8 {
		t.Errorf("only %d pages have commands that are run", pages)
	}
}

// runPage runs the commands of a page and returns 0 where there are none.
func runPage(t *testing.T, root, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var run []blocks.Block
	for _, b := range blocks.Read(string(text)) {
		if b.HasCommands() && b.NotRun == "" {
			run = append(run, b)
		}
	}
	if len(run) == 0 {
		return 0
	}
	name, _ := filepath.Rel(root, file) // both are absolute
	t.Run(name, func(t *testing.T) {
		shell := newPageShell(t, root, strings.TrimSuffix(filepath.Base(file), ".md"))
		for _, b := range run {
			for _, c := range b.Commands() {
				shell.run(t, b, c)
			}
		}
	})
	return 1
}

// pageShell runs commands in the folder of a page.
type pageShell struct{ bin string }

// newPageShell prepares the folder. It has the examples and the files of testdata/pages/NAME.txtar. The files
// below before are those of the branch origin/main. The comment of the archive names a cloud,
// whose configuration and Nodes are in the folder, or in the folder that the comment names as well.
func newPageShell(t *testing.T, root, name string) pageShell {
	t.Helper()
	archive := filepath.Join(root, "cmd/berth/testdata/pages", name+".txtar")
	t.Setenv("KUBECONFIG", "/dev/null")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := newRepository(t)
	before, now, cloud := readPageFiles(t, archive)
	if len(before) > 0 {
		writePageFiles(t, before)
		r.git("add", "-A")
		r.git("commit", "-q", "-m", "manifests")
		r.git("update-ref", "refs/remotes/origin/main", "HEAD")
		r.git("rm", "-q", "-r", ".")
	}
	writePageFiles(t, now)
	if err := os.Symlink(filepath.Join(root, "examples"), "examples"); err != nil {
		t.Fatal(err)
	}
	if len(cloud) > 0 {
		into := append(cloud, ".")[1]
		_, nodes := startCloud(t, cloud[0], 3)
		for _, file := range []string{"cloud.conf", "nodes.yaml"} {
			err := errors.Join(os.MkdirAll(into, 0o755), os.Symlink(filepath.Join(filepath.Dir(nodes), file), filepath.Join(into, file)))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	bin := t.TempDir()
	installTool(t, bin, "berth", asProgram+"=1 exec "+self+` "$@"`+"\n")
	return pageShell{bin}
}

// readPageFiles returns the files of an archive, older and present ones, and the fields of its comment.
func readPageFiles(t *testing.T, archive string) (before, now map[string]string, comment []string) {
	t.Helper()
	before, now = map[string]string{}, map[string]string{}
	parsed, err := txtar.ParseFile(archive)
	if errors.Is(err, fs.ErrNotExist) {
		return before, now, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range parsed.Files {
		if name, older := strings.CutPrefix(f.Name, "before/"); older {
			before[name] = string(f.Data)
		} else {
			now[f.Name] = string(f.Data)
		}
	}
	return before, now, strings.Fields(string(parsed.Comment))
}

func writePageFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs one command. A plan with changes is a success.
func (s pageShell) run(t *testing.T, b blocks.Block, c blocks.Command) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", c.Text)
	cmd.Env = append(os.Environ(), "PATH="+s.bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != plan.ExitNothing && code != plan.ExitChanges && b.Language == "sh" {
		t.Errorf("line %d: %s: %v\n%s", b.Line, c.Text, err, out)
	}
	if c.Output != nil && !c.Shows(string(out)) {
		t.Errorf("line %d: %s: the page shows\n%s\ninstead of\n%s", b.Line, c.Text, strings.Join(c.Output, "\n"), out)
	}
}
