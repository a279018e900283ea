package site

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	// target matches an address in a tag of HTML, with and without quotes.
	target = regexp.MustCompile(`(?:href|src)=(?:"([^"]*)"|([^\s">]+))`)
	// anchor matches an identifier in a tag.
	anchor = regexp.MustCompile(`\sid=(?:"([^"]*)"|([^\s">]+))`)
)

// Broken lists the addresses of a built site that lead to none of its files. Base is the path at which the
// site is served. Addresses of other sites are not followed.
func Broken(site fs.FS, base string) ([]string, error) {
	pages := map[string]string{}
	files := map[string]bool{}
	err := fs.WalkDir(site, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files[name] = true
		if path.Ext(name) != ".html" {
			return nil
		}
		text, err := fs.ReadFile(site, name)
		pages[name] = string(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []string
	for name, text := range pages {
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if to := m[1] + m[2]; !leadsTo(name, to, base, files, pages) {
				out = append(out, fmt.Sprintf("%s: %s", name, to))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// leadsTo reports whether an address on a page exists.
func leadsTo(from, to, base string, files map[string]bool, pages map[string]string) bool {
	u, err := url.Parse(to)
	if err != nil {
		return false
	}
	if u.Scheme != "" && u.Scheme != "file" {
		return true
	}
	name := from
	if u.Path != "" {
		below, inside := strings.CutPrefix(u.Path, base)
		if !inside {
			below = path.Join(path.Dir(from), u.Path)
		}
		name = strings.Trim(below, "/")
		if !files[name] {
			name = path.Join(name, "index.html")
		}
	}
	if !files[name] {
		return false
	}
	if u.Fragment == "" {
		return true
	}
	return slices.ContainsFunc(anchor.FindAllStringSubmatch(pages[name], -1), func(m []string) bool { return m[1]+m[2] == u.Fragment })
}

// Missing lists the pages of docs that a built site does not have.
func Missing(docs Pages, site fs.FS) []string {
	var out []string
	for name := range docs {
		folder := strings.ToLower(strings.TrimSuffix(name, ".md"))
		if path.Base(name) == "README.md" {
			folder = path.Dir(name)
		}
		if _, err := fs.Stat(site, path.Join(folder, "index.html")); err != nil {
			out = append(out, name+": is not on the site")
		}
	}
	slices.Sort(out)
	return out
}
