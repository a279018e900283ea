package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

// A hostile tenant writes Services as large as the API server takes them. The numbers
// are for each cloud; the ordinary Services are served in two halves, the first while
// all is calm.
const (
	hostileServices  = 50
	hostilePorts     = 1000
	hostileRanges    = 1000
	hostileKeys      = 4500
	ordinaryServices = 200
	// allocatedPorts is how many ports the one hostile Service has that asks for node
	// ports. The API server writes each of them down for itself, which takes it most of a
	// minute for a thousand, and it has no more than 2,768.
	allocatedPorts = 200
	// annotationBytes is what keys and values of all annotations of an object may have.
	// Source: k8s.io/apimachinery:pkg/api/validation/objectmeta.go (TotalAnnotationSizeLimitB).
	annotationBytes = 256 << 10
)

// tenancy is a cloud that a hostile tenant shares with ordinary ones.
type tenancy struct {
	*world
	prefix    string // what unknown keys begin with
	elsewhere string // the tenant's namespace
	process   *harness.Process
	memory    int64 // bytes that the chart lets the controller have
	began     time.Time
}

// TestTenants: on each cloud the controller, with the memory limit of the chart, survives a
// hostile tenant. It reports on each of the tenant's Services what is wrong with it, and
// serves the others as fast as before.
func TestTenants(t *testing.T) {
	onAmazon := &place{
		cloud: "aws", plane: &plane, sim: []string{"--quota-factor=50"},
		kinds: []kind{{name: "classic"}, {name: "network", asks: []change{useNetworkType}}},
	}
	for prefix, p := range map[string]*place{
		"service.beta.kubernetes.io/aws-load-balancer-": onAmazon,
		"service.beta.kubernetes.io/azure-":             onAzure(),
		"networking.gke.io/load-balancer-":              onGCE(),
	} {
		t.Run(p.cloud, func(t *testing.T) {
			t.Parallel()
			tn := &tenancy{world: p.start(t, 3), prefix: prefix}
			tn.run(p.plane.Cluster(t).Namespace(t))
		})
	}
}

func (tn *tenancy) run(elsewhere string) {
	tn.t.Helper()
	tn.elsewhere, tn.memory, tn.began = elsewhere, tn.chartMemory(), time.Now()
	before := tn.cloud()
	tn.Env = append(tn.Env, fmt.Sprintf("BERTH_MEMORY_LIMIT=%d", tn.memory))
	page, flags := securePortFlags(tn.t)
	tn.process = tn.controller(append(flags, tn.bounds()...)...)
	ordinary := tn.ordinary()
	calm := tn.serve(ordinary[:len(ordinary)/2])

	hostile := tn.flood()
	flooded := time.Now()
	tn.lap("the flood is written")
	stormy := tn.serve(ordinary[len(ordinary)/2:])
	tn.t.Logf("%s: %d ordinary Services alone: half within %s, all within %s; %d more beside %d hostile ones: half within %s, all within %s",
		tn.Cloud, len(calm), calm[len(calm)/2], calm[len(calm)-1], len(stormy), len(hostile), stormy[len(stormy)/2], stormy[len(stormy)-1])
	tn.answered(hostile)
	// On a busy machine everything takes longer. The requirement is then that no Service waits
	// for the hostile ones.
	usual, judged := 5*calm[len(calm)-1]+limit/2, time.Since(flooded)
	if last := stormy[len(stormy)-1]; last > usual && last > judged*3/4 {
		tn.t.Errorf("an ordinary Service beside hostile ones took %s, and those %s; alone all were served within %s", last, judged, calm[len(calm)-1])
	}
	tn.lap("every hostile Service is judged")
	tn.programmed(ordinary...)
	page.answers("/healthz", http.StatusOK)
	for where, n := range page.series("berth_panics_total") {
		if n > 0 {
			tn.t.Errorf("%v panics %s", n, where)
		}
	}
	tn.must(tn.Delete(tn.t.Context(), append(slices.Clone(hostile), ordinary...)...))
	tn.must(harness.Eventually(tn.t.Context(), 3*limit, tn.Gone(append(slices.Clone(hostile), ordinary...)...))) // the API server releases node ports one by one
	tn.lap("all Services are gone")
	tn.eventually("nothing is left", func() error { return diffError("cloud", before, tn.cloud()) })
	tn.fits()
}

// lap says how long it took until here.
func (tn *tenancy) lap(what string) {
	tn.t.Helper()
	tn.t.Logf("%s: %s after %s", tn.Cloud, what, time.Since(tn.began).Round(time.Second))
}

// cloud is everything in the cloud but what counts writes.
func (tn *tenancy) cloud() map[string]any {
	if tn.Cloud == "aws" {
		return tn.state()
	}
	return tn.dump()
}

// bounds are the flags of a cluster with tenants that are not trusted: on Azure all
// Services share the 1,500 rules of a load balancer, so that a policy leaves room for
// others. Elsewhere what the kinds can have is bound enough.
func (tn *tenancy) bounds() []string {
	if tn.Cloud != "azure" {
		return nil
	}
	return []string{"--policy-config=" + tn.write("rules: [{name: room, namespaces: ['"+tn.elsewhere+"'], maxPorts: 100, maxSourceRanges: 100}]\n")}
}

// chartMemory is the limit of the container in the chart, in bytes.
func (tn *tenancy) chartMemory() int64 {
	tn.t.Helper()
	text, err := os.ReadFile(filepath.Join(chartFolder(tn.world), "values.yaml"))
	tn.must(err)
	var values struct {
		Resources corev1.ResourceRequirements `json:"resources"`
	}
	tn.must(yaml.Unmarshal(text, &values))
	memory := values.Resources.Limits[corev1.ResourceMemory]
	if memory.Cmp(resource.MustParse("64Mi")) < 0 {
		tn.t.Fatalf("the chart gives the controller %s of memory", memory.String())
	}
	return memory.Value()
}

func (tn *tenancy) ordinary() []corev1.Service {
	var out []corev1.Service
	for i := range ordinaryServices {
		k := tn.place.kinds[i%len(tn.place.kinds)]
		svc := tn.one(k, i, setPorts(80, 0))
		svc.Name = fmt.Sprintf("ordinary-%d", i)
		out = append(out, svc)
	}
	return out
}

// serve creates Services and returns how long each took until it was served, in order.
func (tn *tenancy) serve(services []corev1.Service) []time.Duration {
	tn.t.Helper()
	began, took := map[string]time.Time{}, map[string]time.Duration{}
	for _, svc := range services {
		began[svc.Name] = time.Now()
		tn.must(tn.Create(tn.t.Context(), svc))
	}
	tn.must(harness.Eventually(tn.t.Context(), 4*limit, func(ctx context.Context) error { // how long is judged against the calm ones, not by the clock
		list, err := tn.Client.CoreV1().Services(tn.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, svc := range list.Items {
			if _, done := took[svc.Name]; !done && harness.Condition(&svc, status.TypeProgrammed).Status == metav1.ConditionTrue && len(svc.Status.LoadBalancer.Ingress) > 0 {
				if at, ours := began[svc.Name]; ours {
					took[svc.Name] = time.Since(at)
				}
			}
		}
		return atLeast(len(services), len(took))
	}))
	var out []time.Duration
	for _, d := range took {
		out = append(out, d.Round(time.Millisecond))
	}
	slices.Sort(out)
	return out
}

// flood lets the tenant write its Services and change some of them at once. Each write
// occupies the API server for some tenths of a second, since it records the manager of each
// port and annotation.
func (tn *tenancy) flood() []corev1.Service {
	tn.t.Helper()
	var out []corev1.Service
	for i := range hostileServices {
		svc := tn.hostile(i)
		tn.must(tn.Create(tn.t.Context(), svc))
		out = append(out, svc)
	}
	for _, svc := range out[:hostileServices/10] {
		tn.must(tn.Change(tn.t.Context(), svc.Namespace, svc.Name, func(svc *corev1.Service) { svc.Spec.Selector = map[string]string{"app": "changed"} }))
	}
	return out
}

// hostile is a Service of as many ports, ranges and annotations as the API server takes.
// Every other one has many ranges in a key that is known besides.
func (tn *tenancy) hostile(i int) corev1.Service {
	svc := tn.service(fmt.Sprintf("hostile-%d", i))
	svc.Namespace, svc.Spec.Ports = tn.elsewhere, nil
	allocate, many := i == 0, int32(hostilePorts)
	if allocate {
		many = allocatedPorts
	}
	for n := range many {
		svc.Spec.Ports = append(svc.Spec.Ports, newPort(corev1.ProtocolTCP, 1+n, 0))
	}
	for n := range hostileRanges {
		svc.Spec.LoadBalancerSourceRanges = append(svc.Spec.LoadBalancerSourceRanges, fmt.Sprintf("10.%d.%d.0/24", n/250, n%250))
	}
	svc.Spec.AllocateLoadBalancerNodePorts = &allocate
	svc.Annotations = map[string]string{}
	left := annotationBytes
	if i%2 == 1 {
		known := "service.beta.kubernetes.io/load-balancer-source-ranges"
		ranges := strings.Repeat("192.0.2.0/24,", 1500) + "192.0.2.0/24"
		svc.Annotations[known] = ranges
		left -= len(known) + len(ranges)
	}
	each := left / hostileKeys
	for n := range hostileKeys {
		key := fmt.Sprintf("%sh%04d", tn.prefix, n)
		svc.Annotations[key] = strings.Repeat("x", max(0, each-len(key)))
	}
	return svc
}

// answered waits until every hostile Service has been judged, and wants few words for
// each: one condition of a kind, and events that count what they do not name.
func (tn *tenancy) answered(hostile []corev1.Service) {
	tn.t.Helper()
	for _, svc := range hostile {
		var conditions []metav1.Condition
		tn.eventually(svc.Name+" is judged", func() error {
			now, err := tn.Get(tn.t.Context(), svc.Namespace, svc.Name)
			if err != nil {
				return err
			}
			conditions = now.Status.Conditions
			if harness.Condition(now, status.TypeAccepted).Status == "" {
				return errors.New(harness.Conditions(now))
			}
			return nil
		})
		for _, c := range conditions {
			if len(c.Message) > 4<<10 {
				tn.t.Errorf("%s: the condition %s has %d bytes", svc.Name, c.Type, len(c.Message))
			}
		}
	}
	tn.eventually("the floods are told", func() error { return tn.floodsTold(hostile) })
}

// floodsTold wants one event with the count of all unknown keys, and few others.
func (tn *tenancy) floodsTold(hostile []corev1.Service) error {
	list, err := tn.Client.CoreV1().Events(tn.elsewhere).List(tn.t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	unknown, all := map[string]int{}, map[string]int{}
	for _, e := range list.Items {
		if strings.HasSuffix(e.Source.Component+e.ReportingController, "-repair-controller") {
			continue
		}
		all[e.InvolvedObject.Name] += int(max(e.Count, 1))
		if e.Reason == string(status.EventUnknownAnnotation) && requireWords(e.Message, fmt.Sprint(hostileKeys), "in all") == nil {
			unknown[e.InvolvedObject.Name] += int(max(e.Count, 1))
		}
	}
	const few = 6
	for _, svc := range hostile {
		if unknown[svc.Name] != 1 || all[svc.Name] > few {
			return fmt.Errorf("%s: want one event of unknown keys and at most %d in all, got %d and %d", svc.Name, few, unknown[svc.Name], all[svc.Name])
		}
	}
	return nil
}

// fits wants the process that was started first to be there still, and never to have
// taken more memory than the chart lets it have.
func (tn *tenancy) fits() {
	tn.t.Helper()
	if !tn.process.Running() {
		tn.t.Fatal("the controller has ended")
	}
	used, err := tn.process.Usage()
	tn.must(err)
	tn.t.Logf("%s: at most %d of %d MiB, %s of processor time", tn.Cloud, used.Peak>>20, tn.memory>>20, used.CPU)
	if used.Peak > tn.memory {
		tn.t.Errorf("the controller took %d MiB; the chart lets it have %d", used.Peak>>20, tn.memory>>20)
	}
}
