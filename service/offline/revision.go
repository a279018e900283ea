package offline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// readRevision reads files and folders as a revision of their git repository has them. What the
// revision does not have is left out. Errors carry the words of git.
func readRevision(ctx context.Context, revision string, names []string) ([]Source, error) {
	var out []Source
	for _, name := range names {
		if name == "-" {
			return nil, fmt.Errorf("--base %s: standard input has no revision; give the folder of the older version", revision)
		}
		found, err := readTree(ctx, revision, name)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// readTree reads one file or folder.
func readTree(ctx context.Context, revision, name string) ([]Source, error) {
	folder := name
	for !isFolder(folder) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
	}
	below, err := filepath.Rel(folder, name)
	if err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	commit, err := runGit(ctx, folder, nil, "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("--base %s: %w", revision, err)
	}
	listing, err := runGit(ctx, folder, nil, "ls-tree", "-r", "-z", strings.TrimSpace(string(commit)))
	if err != nil {
		return nil, fmt.Errorf("--base %s: %w", revision, err)
	}
	blobs := parseListing(string(listing), filepath.ToSlash(below))
	var ids strings.Builder
	for _, b := range blobs {
		ids.WriteString(b.id + "\n")
	}
	bodies, err := runGit(ctx, folder, strings.NewReader(ids.String()), "cat-file", "--batch")
	if err != nil {
		return nil, fmt.Errorf("--base %s: %w", revision, err)
	}
	return parseBodies(bodies, blobs, func(b blob) Source {
		return Source{Name: revision + ":" + filepath.Join(folder, filepath.FromSlash(b.path)), InFolder: b.path != filepath.ToSlash(below)}
	})
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// blob is a file of a revision.
type blob struct{ id, path string }

// parseListing returns the manifests at or below a path. Source: git-ls-tree(1), OUTPUT FORMAT.
func parseListing(listing, below string) []blob {
	var out []blob
	for entry := range strings.SplitSeq(listing, "\x00") {
		head, name, found := strings.Cut(entry, "\t")
		words := strings.Fields(head) // mode, type, id
		if !found || len(words) != 3 || words[1] != "blob" || words[0] == "120000" {
			continue // a submodule or a link
		}
		inside := below == "." || strings.HasPrefix(name, below+"/")
		manifest := slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(name)))
		hidden := slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(part string) bool { return len(part) > 1 && part[0] == '.' && part != ".." })
		if name == below || inside && manifest && !hidden {
			out = append(out, blob{words[2], name})
		}
	}
	return out
}

// parseBodies reads what git prints of each blob. Source: git-cat-file(1), BATCH OUTPUT.
func parseBodies(printed []byte, blobs []blob, source func(blob) Source) ([]Source, error) {
	r := bufio.NewReader(bytes.NewReader(printed))
	var out []Source
	for _, b := range blobs {
		head, err := r.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("git cat-file: %w", err)
		}
		words := strings.Fields(head) // id, type, size
		if len(words) != 3 {
			return nil, fmt.Errorf("git cat-file: %s", strings.TrimSpace(head))
		}
		size, err := strconv.Atoi(words[2])
		if err != nil {
			return nil, fmt.Errorf("git cat-file: %w", err)
		}
		s := source(b)
		s.Body = make([]byte, size)
		if _, err := io.ReadFull(r, s.Body); err != nil {
			return nil, fmt.Errorf("git cat-file: %w", err)
		}
		_, _ = r.Discard(1) // the line break behind each
		out = append(out, s)
	}
	return out, nil
}

// runGit runs git in a folder and returns what it prints.
func runGit(ctx context.Context, folder string, in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, args...)...) //nolint:gosec // the revision follows --end-of-options
	cmd.Stdin = in
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) && len(failed.Stderr) > 0 {
		return nil, errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}
	return out, nil
}
