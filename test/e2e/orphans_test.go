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

	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/stack/plan"
)

// TestOrphans: Services are deleted behind the controller's back. The command line finds and
// deletes their remaining resources on the clouds whose load balancers share much.
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
	w.unjudged(alive)
	w.forceAway(alive)
	if out, code := w.berth("orphans", "--delete", "--yes"); code != plan.ExitNothing {
		t.Errorf("orphans --delete --yes, of the last Service: exit code %d\n%s", code, out)
	}
	w.nothingLeft(empty)
}

// unjudged refuses the live Service, and lets an unknown controller hold another one: the
// resources that they may share are unknown, so that success is not reported.
func (w *world) unjudged(alive corev1.Service) {
	w.t.Helper()
	m := w.place.mistakes[slices.IndexFunc(w.place.mistakes, func(m mistake) bool { return m.kind == w.place.kinds[0].name })]
	held := w.service("held", setPorts(80, nodePort(60, 0)))
	class := "example.com/unknown"
	held.Spec.LoadBalancerClass, held.Finalizers = &class, []string{service.OwnFinalizer}
	w.must(w.Create(w.t.Context(), held))
	w.update(alive.Name, m.bad...)
	for _, args := range [][]string{{}, {"--delete", "--yes"}} {
		out, code := w.berth("orphans", args...)
		if code != plan.ExitUnjudged || strings.Contains(out, "belongs to a Service") {
			w.t.Errorf("orphans %q beside Services that cannot be judged: exit code %d\n%s", args, code, out)
		}
		for _, word := range append([]string{"2 Services", alive.Name + " is not accepted: ", held.Name + " spec.loadBalancerClass \"" + class}, m.words...) {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), word) {
				w.t.Errorf("orphans does not say %q:\n%s", word, out)
			}
		}
	}
	out, code := w.berth("orphans", "-o", "json")
	if code != plan.ExitUnjudged || strings.Count(out, "is not judged") != 2 {
		w.t.Errorf("orphans -o json: exit code %d\n%s", code, out)
	}
	w.update(alive.Name, m.fix...)
	w.forceAway(held)
}

// forceAway deletes Services as users in a hurry do: it removes their finalizers.
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
	cmd.Env = slices.Concat(os.Environ(), w.Credentials(), w.Env)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		w.t.Fatalf("berth %s: %v", verb, err)
	}
	w.printed = append(w.printed, string(out))
	return string(out), cmd.ProcessState.ExitCode()
}
