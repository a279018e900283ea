package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/test/harness"
)

// example is the program of examples/plugin.
var example = sync.OnceValues(func() (string, error) {
	root, err := harness.Root()
	if err != nil {
		return "", err
	}
	program := filepath.Join(root, "bin", "plugin")
	build := exec.Command("go", "build", "-o", program, "./examples/plugin")
	build.Dir, build.Stderr = root, os.Stderr
	return program, build.Run()
})

// plugin starts the example program: the stock service controller with our
// clouds behind it.
func (w *world) plugin(flags ...string) *harness.Process {
	w.t.Helper()
	program, err := example()
	w.must(err)
	p, err := w.Manager("plugin", program, append([]string{"--concurrent-service-syncs=10", "--kube-api-qps=100", "--kube-api-burst=200"}, flags...)...)
	w.must(err)
	return p
}

// underTheStockLoop is a cloud in which the stock service controller takes the
// place of our loop. It serves no classes.
func underTheStockLoop(p *place) *place {
	p.plane = &plane
	p.kinds = slices.DeleteFunc(p.kinds, func(k kind) bool {
		svc := corev1.Service{}
		for _, c := range k.asks {
			c(&svc)
		}
		return svc.Spec.LoadBalancerClass != nil
	})
	p.mistakes = slices.DeleteFunc(p.mistakes, func(m mishap) bool {
		return !slices.ContainsFunc(p.kinds, func(k kind) bool { return k.name == m.kind })
	})
	p.install = func(w *world) { w.pod = w.plugin }
	return p
}

// TestPlugin runs the example program on every cloud, each with a control plane of its own.
func TestPlugin(t *testing.T) {
	google, azure := underTheStockLoop(onGCE()), underTheStockLoop(onAzure())
	azure.plane = &azurePlane
	for _, p := range []*place{google, azure} {
		t.Run(p.cloud, func(t *testing.T) {
			t.Parallel()
			t.Run("life", p.life)
			t.Run("kill", p.kill)
			t.Run("cut", p.cut)
			t.Run("finalizers", p.finalizers)
			t.Run("mistakes", p.pluginMistakes)
			t.Run("throttled", p.pluginThrottled)
			t.Run("take-over", p.pluginTakesOver)
		})
	}
}

// The stock loop does with our provider what our own loop does.
func TestPluginOnAWS(t *testing.T) {
	w := start(t, 3)
	before := w.state()
	w.plugin()
	web, db := w.service("web", ports(80, 31080)), w.service("db", network, ports(5432, 31432))
	w.must(w.Create(t.Context(), web, db))
	w.programmed(web, db)
	for _, name := range []string{"web", "db"} {
		w.eventually(name+" has an address", func() error {
			return atLeast(1, len(w.get(name).Status.LoadBalancer.Ingress))
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
	w.must(w.JoinNode(t.Context(), &nodes[0]))
	w.becomes("web", members, inOrder(w.machines()...))
	for _, name := range []string{"web", "db"} {
		if warned := w.warnings(name); len(warned) > 0 {
			t.Errorf("%s: a life without mistakes brought warnings: %q", name, warned)
		}
	}

	w.update("web", func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeClusterIP })
	w.eventually("the Classic Load Balancer goes with the type", func() error {
		left, err := w.named("web")
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d are left", len(left))
		}
		return err
	})
	w.eventually("nothing of ours is left on the Service", func() error {
		svc := w.get("web")
		return errors.Join(differ("finalizers", 0, len(svc.Finalizers)), differ("conditions", 0, len(svc.Status.Conditions)), differ("annotations", 0, len(svc.Annotations)))
	})
	w.remove(web, db)
	w.eventually("nothing is left", func() error { return differ("state", before, w.state()) })
}
