package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// document is a list of contents in CycloneDX 1.5, as far as it is used here.
// Source: cyclonedx.org/docs/1.5/json.
type document struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// contents lists the modules that are linked into a program, from the record of the linker in
// it: the actual modules, not the requirements of a file. The record does not contain which
// module uses which, so the program depends on all.
func (r Release) contents(path string) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum, err := sha256Of(path)
	if err != nil {
		return nil, err
	}
	doc := describeProgram(info, filepath.Base(path), r.Version, sum, r.Time)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(doc)
	return out.Bytes(), err
}

func describeProgram(info *debug.BuildInfo, name, version, sum string, at time.Time) document {
	program := component{Type: "application", Name: name, Version: version, PURL: packageURL(info.Main.Path, version), Hashes: []hash{{"SHA-256", sum}}}
	program.Ref = program.PURL + "#" + strings.TrimPrefix(info.Path, info.Main.Path+"/")
	doc := document{
		Format: "CycloneDX", SpecVersion: "1.5", Version: 1,
		Serial:   "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte(sum)).String(), // follows from the program: the same bytes, the same list
		Metadata: metadata{Timestamp: at.Format(time.RFC3339), Component: program},
	}
	libraries := []component{libraryOf("stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		libraries = append(libraries, libraryOf(m.Path, m.Version))
	}
	slices.SortFunc(libraries, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	doc.Components = libraries
	all := dependency{Ref: program.Ref}
	for _, l := range libraries {
		all.DependsOn = append(all.DependsOn, l.Ref)
	}
	doc.Dependencies = []dependency{all}
	return doc
}

func libraryOf(path, version string) component {
	p := packageURL(path, version)
	return component{Type: "library", Ref: p, Name: path, Version: version, PURL: p}
}

// packageURL names a module for all tools alike. Source:
// github.com/package-url/purl-spec, type golang.
func packageURL(path, version string) string {
	return fmt.Sprintf("pkg:golang/%s@%s", path, url.QueryEscape(version))
}
