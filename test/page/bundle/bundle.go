package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// listLicences lists the licence files of the libraries that the script contains.
func listLicences() []string {
	return []string{"vendor/preact/LICENSE", "vendor/dagre/LICENSE", "vendor/dagre/dagre.esm.js.LEGAL.txt"}
}

// Files returns the built files by their name. The folder has the sources.
func Files(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	var err error
	if out["app.js"], err = buildFile(dir, "src/main.js"); err != nil {
		return nil, err
	}
	if out["app.css"], err = buildFile(dir, "src/app.css"); err != nil {
		return nil, err
	}
	if out["index.html"], err = os.ReadFile(filepath.Join(dir, "src/index.html")); err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, name := range listLicences() {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "%s\n\n%s\n\n", name, bytes.TrimSpace(text))
	}
	out["licenses.txt"] = all.Bytes()
	return out, nil
}

// buildFile bundles one file with everything that it imports.
func buildFile(dir, entry string) ([]byte, error) {
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(dir, entry)}, Outdir: dir,
		Bundle: true, Write: false, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		var all []error
		for _, m := range result.Errors {
			all = append(all, fmt.Errorf("%s: %s", entry, m.Text))
		}
		return nil, errors.Join(all...)
	}
	if len(result.OutputFiles) != 1 {
		return nil, fmt.Errorf("%s: %d files instead of one", entry, len(result.OutputFiles))
	}
	return result.OutputFiles[0].Contents, nil
}
