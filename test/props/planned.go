package props

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Plannable is a Subject for which the command line can plan.
type Plannable interface {
	Subject
	// Cloud is the cloud without its configuration.
	Cloud() providers.Entry
	// KubernetesNodes are the machines as the API server has them.
	KubernetesNodes() []corev1.Node
}

// Environment variables of Planned.
const (
	envPairs = "BERTH_PAIRS"      // how many pairs are tried; the default fits in some seconds
	envPair  = "BERTH_PAIRS_FROM" // the number of the first one, to try one again
)

// pairsAtOnce is how many pairs are under way.
const pairsAtOnce = 4

// Planned checks that the controller follows the plan: for random pairs of a state of the
// cloud and a change of a Service, the steps that `berth plan` shows are the ones that the
// controller runs next, byte for byte, in every round until the desired state is reached.
// Beside the Service are another one and a refused one. The controller may restart at any
// time, nodes are deleted and created, and policies hold steps. refused is a case that no
// provider accepts; n is how many pairs are tried by default, and known are the numbers of
// pairs that have revealed a fault, which are always tried.
func Planned(t *testing.T, fresh New, cases []Case, refused Case, n int, known ...int) {
	first := fromEnv(t, envPair, 0)
	n = fromEnv(t, envPairs, n)
	if os.Getenv(envPair) != "" {
		known = nil // some pairs are tried again
	}
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range pairsAtOnce {
		workers.Go(func() {
			for i := range numbers {
				t.Run(strconv.Itoa(i), func(t *testing.T) {
					virtual.Test(t, func(t *testing.T) { tryPair(t, fresh, cases, refused, uint64(i)) })
				})
			}
		})
	}
	for i := first; i < first+n; i++ {
		numbers <- i
	}
	for _, i := range known {
		if i >= first+n {
			numbers <- i
		}
	}
	close(numbers)
	workers.Wait()
}

func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// pair is one try: a cloud, a cluster, and a process that serves it.
type pair struct {
	t       *testing.T
	random  *rand.Rand
	subject Plannable
	cases   []Case
	cluster *apiServer
	target  offline.Target
	process *process
	story   []string // what has happened so far
}

func tryPair(t *testing.T, fresh New, cases []Case, refused Case, number uint64) {
	p := &pair{t: t, random: rand.New(rand.NewPCG(number, 1)), subject: fresh(t).(Plannable), cases: cases}
	p.cluster = startAPIServer(t, p.subject)
	p.target.Cloud = p.subject.Cloud()
	p.target.Cloud.Open = sessionOpener(t, p.subject)
	p.target.Settings.DefaultClass, p.target.Settings.OnTakeover = true, "converge"
	p.restart()
	p.neighbours(refused)
	web := p.create(p.one(), "web", 0)
	p.serve(web)
	if p.chance(3) {
		p.target.Settings.Policies = []string{[]string{"no-delete", "no-replace", "no-interrupt"}[p.random.IntN(3)]}
		p.tell("policy %s", p.target.Settings.Policies[0])
	}
	if p.chance(4) {
		p.target.Settings.OnTakeover = "keep"
		p.tell("drift is kept")
	}
	if p.target.Settings.Policies != nil || p.target.Settings.OnTakeover == "keep" || p.chance(2) {
		p.restart()
	}
	p.change(web)
	for i := range rounds {
		p.tell("round %d", i+1)
		if p.compare(web) {
			return
		}
		if p.chance(4) {
			p.restart()
		}
	}
}

// sessionOpener returns a function that opens a session for a plan, as for any process
// that starts.
func sessionOpener(t *testing.T, s Subject) func(context.Context, io.Reader, providers.Env) (providers.Bound, annotations.Problems, error) {
	return func(context.Context, io.Reader, providers.Env) (providers.Bound, annotations.Problems, error) {
		return s.Open(t), nil, nil
	}
}

func (p *pair) chance(of int) bool { return p.random.IntN(of) == 0 }

func (p *pair) one() Case { return p.cases[p.random.IntN(len(p.cases))] }

func (p *pair) tell(format string, args ...any) {
	p.story = append(p.story, fmt.Sprintf(format, args...))
}

// create puts a case into the cluster under a name, with node ports of its own.
func (p *pair) create(c Case, name string, place int32) string {
	svc := c.Service.DeepCopy()
	svc.Name, svc.UID = name, uidOf(name)
	p.movePorts(svc, place)
	p.cluster.put(svc)
	p.tell("%s is %s", name, c.Name)
	return name
}

func (p *pair) movePorts(svc *corev1.Service, place int32) {
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].NodePort += place * 100
	}
	if svc.Spec.HealthCheckNodePort > 0 {
		svc.Spec.HealthCheckNodePort += place * 100
	}
}

// neighbours creates the other Services: one that is served, perhaps, and one that is
// refused, perhaps after it was served.
func (p *pair) neighbours(refused Case) {
	if p.chance(2) {
		p.serve(p.create(p.one(), "beside", 1))
	}
	if p.chance(2) {
		good := p.one()
		name := p.create(good, "refused", 2)
		p.serve(name)
		svc := p.cluster.get(name)
		for key, value := range refused.Service.Annotations {
			metav1.SetMetaDataAnnotation(&svc.ObjectMeta, key, value)
		}
		p.cluster.put(svc)
		p.tell("refused is refused from now on")
	} else {
		p.create(refused, "refused", 2)
	}
	p.round("refused")
}

// serve works on a Service to some point: not at all, until the process dies at some
// writing call, or until nothing is left to do.
func (p *pair) serve(name string) {
	switch how := p.random.IntN(6); how {
	case 0:
		p.tell("%s: nothing is done", name)
	case 1:
		k := p.random.IntN(12)
		p.tell("%s: dies at writing call %d", name, k)
		withCrash(p.t, p.subject, k, sim.FaultCutAfter, func() { p.round(name) })
		p.restart()
	default:
		for range rounds {
			if res := p.round(name); res.Clean {
				p.tell("%s: served", name)
				return
			}
		}
		p.tell("%s: served in part", name)
	}
}

// restart begins a new process with the settings of the moment. It knows the Services
// as the API server has them.
func (p *pair) restart() {
	p.tell("a process starts")
	policies, err := p.target.Settings.PlanPolicies()
	if err != nil {
		p.t.Fatal(err)
	}
	keep, err := p.target.Settings.KeepsDrift()
	if err != nil {
		p.t.Fatal(err)
	}
	p.process = &process{t: p.t, s: p.subject, r: reconcile.New(p.subject.Open(p.t), reconcile.Options{
		GatherReleases: time.Millisecond, Policies: policies, KeepDrift: keep,
	})}
	p.process.r.SetNodes(p.cluster.projected())
	for _, svc := range p.cluster.all() {
		if job := p.job(svc.Name); job != nil {
			_, _ = p.process.r.Draft(p.t.Context(), *job)
		}
	}
	p.process.r.AllKnown()
}

// change gives a Service a new wish, or takes it away, or changes what is around it.
func (p *pair) change(name string) {
	svc := p.cluster.get(name)
	switch p.random.IntN(10) {
	case 0:
		svc.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		p.tell("%s is deleted", name)
	case 1:
		svc.Spec.Ports = svc.Spec.Ports[:1]
		p.tell("a port is removed")
	case 2:
		next := svc.Spec.Ports[0]
		next.Name, next.Port, next.NodePort = "more", 8443, 30843
		svc.Spec.Ports = append(svc.Spec.Ports, next)
		p.tell("a port is added")
	case 3:
		delete(svc.Annotations, status.AnnotationApplied)
		p.tell("%s carries no record", name)
	case 4:
		p.tell("nothing changes")
	default:
		c := p.one()
		spec, was := c.Service.DeepCopy(), svc
		svc = was.DeepCopy()
		svc.Spec = spec.Spec
		for key := range p.caseKeys() {
			delete(svc.Annotations, key)
		}
		for key, value := range spec.Annotations {
			metav1.SetMetaDataAnnotation(&svc.ObjectMeta, key, value)
		}
		p.tell("%s becomes %s", name, c.Name)
	}
	p.cluster.put(svc)
	if p.chance(4) {
		gone := p.cluster.takeNode(p.random)
		p.process.r.SetNodes(p.cluster.projected())
		p.tell("node %s is removed", gone)
		for _, other := range p.cluster.all() { // which the controller visits for that as well
			if other.Name != name {
				p.round(other.Name)
			}
		}
	}
}

// caseKeys are the annotations that any case has.
func (p *pair) caseKeys() map[string]bool {
	out := map[string]bool{}
	for _, c := range p.cases {
		for key := range c.Service.Annotations {
			out[key] = true
		}
	}
	return out
}
