package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// writeSource returns a module with a program, in a folder of its own.
func writeSource(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", t.Name())
	for name, body := range map[string]string{
		"go.mod":            "module example.com/toy\n\ngo 1.26\n",
		"LICENSE":           "use it\n",
		"cmd/toy/main.go":   "package main\n\nimport \"example.com/toy/words\"\n\nvar version = \"none\"\n\nfunc main() { println(version, words.Where()) }\n",
		"words/words.go":    "package words\n\nimport \"runtime\"\n\n// Where is the path of this file, which must not be that of the machine.\nfunc Where() string {\n\t_, file, _, _ := runtime.Caller(0)\n\treturn file\n}\n",
		"chart/Chart.yaml":  "apiVersion: v2\nname: toy\nversion: 0.1.0\nappVersion: v0.1.0\n",
		"chart/values.yaml": "a: 1\n", "chart/ci/x.yaml": "b: 2\n", "chart/.helmignore": "# not for users\nci/\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func buildRelease(t *testing.T) map[string][]byte {
	t.Helper()
	dir, out := writeSource(t), t.TempDir()
	var progress bytes.Buffer
	toy := Program{"./cmd/toy", releasePrograms()[1].Platforms}
	r := Release{
		Module: dir, Programs: []Program{toy}, Plugin: toy, Version: "v1.2.3", LinkerFlags: "-X main.version=v1.2.3",
		Chart: filepath.Join(dir, "chart"), Time: time.Unix(1_700_000_000, 0).UTC(), Out: out, Progress: &progress,
	}
	if err := r.Build(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	files := map[string][]byte{}
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(out, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestSameBytes builds the same source twice, in two folders.
func TestSameBytes(t *testing.T) {
	var first, second map[string][]byte
	t.Run("one", func(t *testing.T) { first = buildRelease(t) })
	t.Run("another", func(t *testing.T) { second = buildRelease(t) })
	want := []string{"SHA256SUMS", "chart-1.2.3.tgz", "toy.yaml"}
	for _, name := range []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64", "windows-amd64.exe", "windows-arm64.exe"} {
		want = append(want, "toy-"+name, "toy-"+name+".cdx.json", "toy-"+strings.TrimSuffix(name, ".exe")+".tar.gz")
		madeFor(t, name, first["toy-"+name])
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, sortedNames(first)); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	for name := range first {
		if !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s is not the same twice", name)
		}
	}
	for name, machine := range map[string]elf.Machine{"toy-linux-amd64": elf.EM_X86_64, "toy-linux-arm64": elf.EM_AARCH64} {
		checkProgram(t, first[name], machine)
	}
	checkSums(t, first)
	checkPlugin(t, first)
}

// checkPlugin requires a manifest that leads to an archive for each platform, which holds the
// program and the license.
func checkPlugin(t *testing.T, files map[string][]byte) {
	t.Helper()
	var manifest plugin
	if err := yaml.UnmarshalStrict(files["toy.yaml"], &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Metadata.Name != "toy" || manifest.Spec.Version != "v1.2.3" || len(manifest.Spec.Short) > 50 || len(manifest.Spec.Platforms) != 6 {
		t.Errorf("manifest: %+v", manifest)
	}
	for _, p := range manifest.Spec.Platforms {
		archive, found := strings.CutPrefix(p.URI, homepage+"/releases/download/v1.2.3/")
		if sum := sha256.Sum256(files[archive]); !found || p.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: not an archive with the checksum %s", p.URI, p.SHA256)
		}
		program := "toy-" + p.Selector.MatchLabels["os"] + "-" + p.Selector.MatchLabels["arch"] + strings.TrimPrefix(p.Bin, "toy")
		if diff := cmp.Diff(map[string]string{"LICENSE": "use it\n", p.Bin: string(files[program])}, unpackArchive(t, files[archive])); diff != "" || files[program] == nil {
			t.Errorf("%s does not hold the license and %s as %s", archive, program, p.Bin)
		}
	}
}

// madeFor wants the program of a file to be for the platform of its name.
func madeFor(t *testing.T, name string, body []byte) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(body))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var platform, arch string
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			platform = s.Value
		case "GOARCH":
			arch = s.Value
		}
	}
	if platform+"-"+arch != strings.TrimSuffix(name, ".exe") {
		t.Errorf("%s is for %s-%s", name, platform, arch)
	}
}

// TestPrograms: the command line is for the machines of people as well, the controller
// for those of clusters alone.
func TestPrograms(t *testing.T) {
	got := map[string]int{}
	for _, p := range releasePrograms() {
		for _, platform := range p.Platforms {
			got[filepath.Base(p.Package)+" "+platform.OS]++
		}
	}
	want := map[string]int{"cloud-controller-manager linux": 2, "berth linux": 2, "berth darwin": 2, "berth windows": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// checkProgram requires a static program with the version and no path of this machine.
func checkProgram(t *testing.T, body []byte, machine elf.Machine) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != machine {
		t.Errorf("is for %v, want %v", f.Machine, machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("is not static: it asks for a dynamic linker")
		}
	}
	if !bytes.Contains(body, []byte("v1.2.3")) || bytes.Contains(body, []byte(os.TempDir()+"/")) {
		t.Error("the version is not in it, or a path of this machine is")
	}
	if _, err := buildinfo.Read(bytes.NewReader(body)); err != nil {
		t.Error(err)
	}
}

func checkSums(t *testing.T, files map[string][]byte) {
	t.Helper()
	line := regexp.MustCompile(`^([0-9a-f]{64})  (\S+)$`)
	n := 0
	for text := range strings.Lines(string(files["SHA256SUMS"])) {
		m := line.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
		if m == nil {
			t.Fatalf("a line that sha256sum would not read: %q", text)
		}
		path := filepath.Join(t.TempDir(), m[2])
		if err := os.WriteFile(path, files[m[2]], 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := sha256Of(path); err != nil || got != m[1] {
			t.Errorf("%s: %s, %v", m[2], got, err)
		}
		n++
	}
	if n != len(files)-1 {
		t.Errorf("%d sums of %d files", n, len(files)-1)
	}
}

// unpackArchive returns the files of an archive.
func unpackArchive(t *testing.T, body []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		got[header.Name] = string(body)
	}
}

func TestChart(t *testing.T) {
	got := unpackArchive(t, buildRelease(t)["chart-1.2.3.tgz"])
	want := map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: toy\nversion: 1.2.3\nappVersion: v1.2.3\n", "chart/values.yaml": "a: 1\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("package (-want +got):\n%s", diff)
	}
}

// TestContents holds the list of this test program, which has dependencies,
// against what CycloneDX 1.5 demands and against what the linker wrote.
func TestContents(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := Release{Version: "v1.2.3+x", Time: time.Unix(1_700_000_000, 0).UTC()}
	body, err := r.contents(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Format != "CycloneDX" || doc.SpecVersion != "1.5" || doc.Version != 1 || doc.Metadata.Timestamp != "2023-11-14T22:13:20Z" ||
		!regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`).MatchString(doc.Serial) {
		t.Errorf("head: %+v", doc)
	}
	main := doc.Metadata.Component
	if main.Type != "application" || !strings.HasPrefix(main.PURL, "pkg:golang/github.com/berth-lb/berth@v1.2.3%2Bx") || len(main.Hashes) != 1 {
		t.Errorf("program: %+v", main)
	}
	refs := map[string]bool{}
	for _, c := range doc.Components {
		if c.Type != "library" || c.Name == "" || c.Version == "" || c.Ref == "" || refs[c.Ref] {
			t.Errorf("component: %+v", c)
		}
		refs[c.Ref] = true
	}
	for _, m := range info.Deps {
		if !refs[packageURL(m.Path, m.Version)] {
			t.Errorf("%s is linked and not listed", m.Path)
		}
	}
	if len(info.Deps) == 0 || len(doc.Components) != len(info.Deps)+1 || !refs["pkg:golang/stdlib@"+strings.TrimPrefix(info.GoVersion, "go")] {
		t.Errorf("%d components of %d modules", len(doc.Components), len(info.Deps))
	}
	if len(doc.Dependencies) != 1 || doc.Dependencies[0].Ref != main.Ref || len(doc.Dependencies[0].DependsOn) != len(doc.Components) {
		t.Errorf("dependencies: %+v", doc.Dependencies)
	}
}

func TestNoVersion(t *testing.T) {
	if err := (Release{Out: t.TempDir()}).Build(t.Context()); !errors.Is(err, errNoVersion) {
		t.Errorf("got %v", err)
	}
}

func sortedNames(files map[string][]byte) []string {
	return slices.Sorted(maps.Keys(files))
}
