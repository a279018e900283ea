// Command bundle writes the files of the page that the program embeds.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/berth-lb/berth/test/page/bundle"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: bundle SOURCES RESULT")
		os.Exit(2)
	}
	if err := writeFiles(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func writeFiles(from, to string) error {
	files, err := bundle.Files(from)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(to, name), text, 0o644); err != nil { // #nosec G306 -- a file of the repository
			return err
		}
	}
	return nil
}
