package e2e

import (
	"os"
	"path/filepath"
	"strings"
)

// keptSecrets looks for the credentials of the world in everything that its programs have
// said until the end of the test: logs, output of the command line, Services, events and
// ConfigMaps. Every test ends with it.
func (w *world) keptSecrets() {
	w.t.Helper()
	marks, err := w.Secrets()
	w.must(err)
	v := &vault{world: w, marks: marks, said: map[string]string{}}
	if printed := strings.Join(w.printed, "\n"); printed != "" {
		v.said["output of berth"] = printed
	}
	logs, err := filepath.Glob(filepath.Join(w.Dir, "*.log"))
	w.must(err)
	for _, path := range logs {
		text, err := os.ReadFile(path)
		w.must(err)
		if name := filepath.Base(path); len(text) > 0 && name != w.Sim.Name+".log" {
			v.said[name] = string(text)
		}
	}
	v.objects()
	v.search()
}
