package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
)

// said collects what a process writes, while it writes.
type said struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write implements [io.Writer].
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

// since is what was written behind the first n bytes.
func (s *said) since(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()[n:]
}

// TestStatusFollows watches a Service through a mistake and its mend: each state is shown
// once, and the exit code is that of the last one.
func TestStatusFollows(t *testing.T) {
	w := startWorld(t, 2)
	w.controller()
	w.create("web")
	out := &said{}
	cmd := exec.CommandContext(t.Context(), w.Binaries.Berth, "status", "svc/web", "-n", w.ns, "--kubeconfig", w.Cluster.Kubeconfig(""), "-w")
	cmd.Env, cmd.Stdout, cmd.Stderr = slices.Concat(os.Environ(), w.Env), out, out
	w.must(cmd.Start())
	defer func() { _ = cmd.Process.Kill() }() // it has ended, unless the test failed
	host := w.addressIsThatOf("web", classicKind)
	told := 0
	follows := func(words ...string) {
		t.Helper()
		w.eventually("status is shown", func() error { return requireWords(out.since(told), words...) })
		told = len(out.since(0))
	}
	follows(host, "Programmed")

	w.update("web", setAnnotation("healthcheck-interval", "often"))
	w.condition("web", status.TypeAccepted, metav1.ConditionFalse, status.ReasonInvalidAnnotation)
	follows("aws-load-balancer-healthcheck-interval", "often")

	w.update("web", setAnnotation("healthcheck-interval", ""))
	w.condition("web", status.TypeAccepted, metav1.ConditionTrue, status.ReasonAccepted)
	follows(host)

	w.must(cmd.Process.Signal(syscall.SIGINT))
	if err := cmd.Wait(); err != nil {
		t.Errorf("a Service as wanted: %v\n%s", err, out.since(0))
	}
	if strings.Contains(out.since(0), "context canceled") {
		t.Errorf("the end is told as a failure:\n%s", out.since(0))
	}
}
