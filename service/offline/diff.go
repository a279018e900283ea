package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/edits"
	"github.com/berth-lb/berth/stack/plan"
)

// Difference is the comparison of two versions of manifests.
type Difference struct {
	edits.Document
	Notes []string `json:"-"`
}

// Diff compares the Services of the files with those of a base: a file or folder, else a revision
// of the git repository that holds the files. It asks neither cloud nor cluster.
func Diff(ctx context.Context, base string, in Input, by Checks) (Difference, error) {
	if len(in.Files) == 0 {
		return Difference{}, fmt.Errorf("diff: %w", errNoFiles)
	}
	old, err := baseOf(ctx, base, in.Files)
	if err != nil {
		return Difference{}, err
	}
	files, err := keepExisting(in.Files, old.in)
	if err != nil {
		return Difference{}, err
	}
	newer := version{name: "the files", in: in, prefixes: in.Files}
	newer.in.Files = files
	if len(old.prefixes) == 0 { // names of a revision are those of the files
		newer.prefixes = nil
	}
	before, err := old.read(ctx, in, by)
	if err != nil {
		return Difference{}, err
	}
	after, err := newer.read(ctx, in, by)
	if err != nil {
		return Difference{}, err
	}
	return Difference{Document: edits.Compare(before.Version, after.Version), Notes: after.notes}, nil
}

// version is where one version of the manifests is.
type version struct {
	name     string
	in       Input
	revision string   // leads the names of files, with a colon
	prefixes []string // folders that are left out of the names of files
}

// baseOf returns the older version.
func baseOf(ctx context.Context, base string, files []string) (version, error) {
	if _, err := os.Stat(base); err == nil {
		return version{name: base, in: Input{Files: []string{base}}, prefixes: []string{base}}, nil
	}
	sources, err := readRevision(ctx, base, files)
	if err != nil {
		return version{}, err
	}
	return version{name: base, in: Input{Sources: sources}, revision: base + ":"}, nil
}

// keepExisting leaves out files that only the base has.
func keepExisting(files []string, base Input) ([]string, error) {
	var out []string
	for _, name := range files {
		_, err := os.Stat(name)
		switch {
		case name == "-" || err == nil:
			out = append(out, name)
		case !errors.Is(err, os.ErrNotExist) || len(base.Sources) == 0:
			return nil, fmt.Errorf("file: %w", err)
		}
	}
	return out, nil
}

// place returns the name of a file relative to what is compared.
func (v version) place(file string) string {
	file = filepath.Clean(strings.TrimPrefix(file, v.revision))
	for _, prefix := range v.prefixes {
		if rel, err := filepath.Rel(prefix, file); err == nil && rel != "." && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	return file
}

// sides is a version that was read.
type sides struct {
	edits.Version
	notes []string
}

// read reads and judges the Services of a version.
func (v version) read(ctx context.Context, in Input, by Checks) (sides, error) {
	out := sides{Version: edits.Version{Name: v.name}}
	if len(v.in.Files)+len(v.in.Sources) == 0 {
		return out, nil
	}
	read := in
	read.Files, read.Sources, read.NodeFiles, read.Kubeconfig, read.Offline, read.Lenient = v.in.Files, v.in.Sources, nil, "", true, true
	world, err := Gather(ctx, read)
	if err != nil {
		return out, err
	}
	out.notes = world.Notes
	for _, f := range world.Faults {
		out.Faults = append(out.Faults, edits.Fault{Problem: edits.Problem{Problem: f.Problem, At: f.Position.String()}, Place: v.place(f.File)})
	}
	run := checking{by: by, world: world, admissions: map[string]*service.Admission{}, optional: map[string]int{}}
	for _, item := range world.Items {
		if !item.Asked {
			continue
		}
		side, err := run.side(item)
		if err != nil {
			return out, err
		}
		side.Place = v.place(item.at.file)
		out.Services = append(out.Services, side)
	}
	return out, nil
}

// side judges one Service.
func (c *checking) side(item Item) (edits.Side, error) {
	checked, err := c.check(item)
	if err != nil {
		return edits.Side{}, err
	}
	out := edits.NewSide(item.withoutMadeUp())
	out.Provider, out.Left = checked.Provider, checked.Left
	out.At = func(where string) string { return item.at.positionOf(where).String() }
	for _, f := range checked.Problems {
		out.Problems = append(out.Problems, edits.Problem{Problem: f.Problem, At: f.Position.String()})
	}
	cloud, known := c.cloudOf(item)
	switch {
	case known:
		admission, err := c.admission(cloud)
		if err != nil {
			return out, err
		}
		judged := service.JudgeFields(item.Service, item.Owner(), cloud, admission)
		out.ServeBy(checked.Provider, judged.Kind, judged.Reach.Internet, cloud.Annotations)
	case item.Service.Spec.Type != "LoadBalancer":
		out.Left = fmt.Sprintf("it is of type %s", item.Service.Spec.Type)
	}
	return out, nil
}

// Formats lists the legal values of Render's format.
func (Difference) Formats() []string { return []string{"human", "markdown", "json"} }

// Render shows the comparison in one of the Formats.
func (d Difference) Render(format string, _ plan.Options) (string, error) {
	switch format {
	case "human":
		lines := strings.Split(edits.Human(d.Document), "\n")
		for i := range lines {
			lines[i] = EscapeControls(lines[i])
		}
		return strings.Join(lines, "\n"), nil
	case "markdown":
		return edits.Markdown(d.Document), nil
	case "json":
		return encodeJSON(d)
	}
	return "", unknownFormat(format, d.Formats())
}
