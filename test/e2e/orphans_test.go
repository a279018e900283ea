package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/stack/plan"
)

// TestOrphans: Services are deleted behind the controller's back, and the command line
// finds and deletes what is left of them on the clouds whose load balancers share much.
func TestOrphans(t *testing.T) {
	for name, p := range map[string]*place{"gce": onGCE(), "azure": onAzure()} {
		p.plane = &plane
		t.Run(name, p.orphans)
	}
}

func (p *place) orphans(t *testing.T) {
	w := p.start(t, 3)
	empty := w.dump()
	controller := w.controller()
	alive := w.one(p.kinds[0], 50)
	w.must(w.Create(t.Context(), alive))
	w.programmed(alive)
	before := w.dump()
	gone := w.many(2 * len(p.kinds))
	w.must(w.Create(t.Context(), gone...))
	w.programmed(gone...)
	controller.Kill()
	w.forceAway(gone...)

	if out, code := w.berth("orphans"); code != plan.ExitChanges || strings.Contains(out, alive.Name+" ") {
		t.Errorf("orphans: exit code %d\n%s", code, out)
	}
	if out, code := w.berth("orphans", "--delete", "--yes"); code != plan.ExitNothing {
		t.Errorf("orphans --delete --yes: exit code %d\n%s", code, out)
	}
	w.nothingLeft(before)
	if out, code := w.berth("orphans"); code != plan.ExitNothing {
		t.Errorf("orphans, once more: exit code %d\n%s", code, out)
	}
	w.forceAway(alive)
	if out, code := w.berth("orphans", "--delete", "--yes"); code != plan.ExitNothing {
		t.Errorf("orphans --delete --yes, of the last Service: exit code %d\n%s", code, out)
	}
	w.nothingLeft(empty)
}

// forceAway deletes Services as people do who are in a hurry: without their finalizers.
func (w *world) forceAway(services ...corev1.Service) {
	w.t.Helper()
	for _, svc := range services {
		client := w.Client.CoreV1().Services(svc.Namespace)
		_, err := client.Patch(w.t.Context(), svc.Name, types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
		w.must(err)
	}
	w.must(w.Delete(w.t.Context(), services...))
}

// berth runs a verb of the command line on the world, with the files of the
// controller, and returns what it says and its exit code.
func (w *world) berth(verb string, args ...string) (string, int) {
	w.t.Helper()
	args = slices.Concat([]string{verb, "--provider", w.Cloud, "--cloud-config", filepath.Join(w.Sim.Dir, "cloud.conf"), "--kubeconfig", w.Cluster.Kubeconfig("")}, args)
	cmd := exec.CommandContext(w.t.Context(), w.Binaries.Berth, args...)
	cmd.Env = append(os.Environ(), w.Credentials()...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		w.t.Fatalf("berth %s: %v", verb, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
