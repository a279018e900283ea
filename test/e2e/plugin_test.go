package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

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

// underTheStockLoop returns a cloud in which the stock service controller replaces our loop.
// It serves no classes.
func underTheStockLoop(p *place) *place {
	p.plane = &plane
	p.kinds = slices.DeleteFunc(p.kinds, func(k kind) bool {
		svc := corev1.Service{}
		for _, c := range k.asks {
			c(&svc)
		}
		return svc.Spec.LoadBalancerClass != nil
	})
	p.mistakes = slices.DeleteFunc(p.mistakes, func(m mistake) bool {
		return !slices.ContainsFunc(p.kinds, func(k kind) bool { return k.name == m.kind })
	})
	p.install = func(w *world) { w.pod = w.plugin }
	return p
}

// TestPlugin runs the example program on three clouds, each with a control plane of its own.
func TestPlugin(t *testing.T) {
	amazon, google, azure := underTheStockLoop(onAWS()), underTheStockLoop(onGCE()), underTheStockLoop(onAzure())
	amazon.plane, azure.plane = &awsPlane, &azurePlane
	for _, p := range []*place{amazon, google, azure} {
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
