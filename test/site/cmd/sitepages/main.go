// Command sitepages writes the generated pages of the documentation site, or checks the links of the
// built one.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/berth-lb/berth/test/site"
)

func main() {
	docs := flag.String("docs", "docs", "the folder of the pages that people write")
	out := flag.String("out", "", "write the generated pages into this folder")
	built := flag.String("built", "", "check the links of the site in this folder")
	base := flag.String("base", "/berth/", "the path at which the site is served")
	flag.Parse()
	if err := runCommand(*docs, *out, *built, *base); err != nil {
		fmt.Fprintln(os.Stderr, "sitepages:", err)
		os.Exit(1)
	}
}

func runCommand(docs, out, built, base string) error {
	pages, err := site.Read(docs)
	if err != nil {
		return err
	}
	if built != "" {
		return checkLinks(pages, built, base)
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for name, text := range site.Files(pages) {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// checkLinks reports links that lead nowhere and pages that are missing.
func checkLinks(pages site.Pages, built, base string) error {
	broken, err := site.Broken(os.DirFS(built), base)
	broken = append(broken, site.Missing(pages, os.DirFS(built))...)
	if err == nil && len(broken) > 0 {
		err = fmt.Errorf("these links and pages are missing:\n%s", strings.Join(broken, "\n"))
	}
	return err
}
