package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/test/harness"
)

// plugin starts the example program: the stock service controller with our
// clouds behind it.
func (w *world) plugin() {
	w.t.Helper()
	root, err := harness.Root()
	w.must(err)
	program := filepath.Join(w.Dir, "plugin")
	build := exec.Command("go", "build", "-o", program, "./examples/plugin")
	build.Dir, build.Stderr = root, os.Stderr
	w.must(build.Run())
	_, err = w.Manager("plugin", program)
	w.must(err)
}

// The stock loop does with our provider what our own loop does.
func TestPluginUnderTheStockLoop(t *testing.T) {
	w := start(t, 3)
	before := w.state()
	w.plugin()
	web, db := w.service("web", ports(80, 31080)), w.service("db", network, ports(5432, 31432))
	w.must(w.Create(t.Context(), web, db))
	for _, name := range []string{"web", "db"} {
		w.eventually(name+" has an address", func() error {
			svc, err := w.Get(t.Context(), w.ns, name)
			if err == nil && len(svc.Status.LoadBalancer.Ingress) == 0 {
				err = fmt.Errorf("no address yet")
			}
			return err
		})
		w.finalizers(name, service.StockFinalizer)
	}
	w.becomes("web", members, inOrder(w.machines()...))
	w.becomes("db", members, onPort(5432, inOrder(w.machines()...)...))
	w.update("web", ports(80, 31080, 443, 31443))
	w.becomes("web", listeners, []string{"TCP:443>TCP:31443", "TCP:80>TCP:31080"})

	nodes, err := w.SeedNodes()
	w.must(err)
	w.must(w.LeaveNode(t.Context(), nodes[0].Name))
	w.becomes("web", members, inOrder(w.machines()[1:]...))
	w.becomes("db", members, onPort(5432, inOrder(w.machines()[1:]...)...))

	w.update("web", func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeClusterIP })
	w.eventually("the Classic Load Balancer goes with the type", func() error {
		left, err := w.named("web")
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d are left", len(left))
		}
		return err
	})
	w.remove(web, db)
	w.eventually("nothing is left", func() error { return differ("state", before, w.state()) })
}
