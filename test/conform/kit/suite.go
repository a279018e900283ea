package kit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// Suite is one official controller and what is peculiar to it and to its cloud.
type Suite struct {
	Cloud   string // as --provider names it
	Program Program
	Nodes   int // machines; the last one is kept out of all load balancers
	// Whole are the configurations in which no machine is kept out, because the cloud
	// begins with all of them behind a load balancer.
	Whole []string
	// SimFlags are flags of the simulator for every configuration; the file
	// cloudsim.flags of testdata has those of one, a line each.
	SimFlags []string
	// Volatile is what differs in the state of the cloud though nothing has changed.
	// Nil: nothing does.
	Volatile *regexp.Regexp
	// Quiet is how long nothing must happen in the cloud until it is taken for
	// nothing: longer than the controllers wait between two calls.
	Quiet time.Duration
	// Refusal is the answer that cuts a controller off; no other call has its code.
	Refusal sim.Fault
	// Stride is the distance between the numbers of calls after which the official
	// controller is cut off. It is odd, so that every other last call is done though
	// its answer is lost. CONFORM_STRIDE in the environment replaces it: 1 tries every number.
	Stride int
	// Leaks tells that the official controller, when a deletion is refused and tried
	// again, may forget what it had begun with.
	Leaks bool

	// Prepare makes what Services of testdata may name. Nil: nothing.
	Prepare func(*World)
	// Names are the functions that testdata may call for what is only known in the
	// simulated cloud.
	Names func(*World) template.FuncMap
	// Configure is the cloud configuration with what testdata has for it besides,
	// which may be nothing.
	Configure func(conf string, more []byte) string
	// Watch begins to look for the official controller to look at every Service; the
	// answer is nil when it has.
	Watch func(*World, []corev1.Service) func(context.Context) error
	// Refers is an annotation that in testdata may name another Service, as
	// service/NAME. It then gets the value that the official controller has written at
	// that one. Empty: none does.
	Refers string
	// Cuts reports whether a writing call removes something that clients may be using, or may
	// make their connections wait.
	Cuts func(sim.Entry) bool

	plane cluster.Shared
	once  sync.Once
	built programs
	err   error
}

// Program is how the official controller is built and run.
type Program struct {
	Name   string   // of the file
	Source string   // argument of go build
	Dir    string   // working folder of go build; empty: this one
	Flags  []string // besides those of every cloud-controller-manager in a test
}

type programs struct {
	harness.Binaries
	official string
}

// strideVariable replaces Suite.Stride.
const strideVariable = "CONFORM_STRIDE"

// Main runs the tests of a module; its TestMain calls it.
func (s *Suite) Main(m *testing.M) {
	if text := os.Getenv(strideVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "%s=%q: want a number from 1\n", strideVariable, text)
			os.Exit(1)
		}
		s.Stride = n
	}
	s.plane.Main(m)
}

// programs are built once.
func (s *Suite) programs(t *testing.T) programs {
	t.Helper()
	s.once.Do(func() { s.built, s.err = s.build() })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.built
}

// build compiles our programs and the official controller.
func (s *Suite) build() (programs, error) {
	ctx := context.Background()
	ours, err := harness.Build(ctx, os.Stderr)
	if err != nil {
		return programs{}, err
	}
	bin := filepath.Dir(ours.Controller)
	free, err := harness.Alone(filepath.Dir(bin))
	if err != nil {
		return programs{}, err
	}
	defer free()
	official := filepath.Join(bin, s.Program.Name)
	fmt.Fprintln(os.Stderr, "building the official controller")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", official, s.Program.Source)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Program.Dir, os.Stderr, os.Stderr
	return programs{Binaries: ours, official: official}, cmd.Run()
}
