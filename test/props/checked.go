package props

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
)

// randomServices is how many random Services of a cloud Checked tries.
const randomServices = 200

// Checked checks that `berth check` and the webhook report what the controller refuses. Random
// Services have up to four keys of the cloud and unusual fields, and none of them has anything in the cloud yet. A
// problem of one of them alone fails, unless a pattern of the exceptions matches it; each has a
// reason why the configuration, the cluster or the state of the cloud decides.
func Checked(t *testing.T, fresh New, except map[string]string) {
	runVirtual(t, "random", func(t *testing.T) {
		s, ok := fresh(t).(Plannable)
		if !ok {
			t.Fatal("the subject does not name its cloud")
		}
		cloud := s.Cloud()
		admission, err := service.AdmissionOf("", nil, cloud.Annotations, cloud.Outputs)
		if err != nil {
			t.Fatal(err)
		}
		opened := s.Open(t)
		process := Process(t, opened, s.Nodes())
		c := checked{cloud: cloud, admission: admission, except: except, missed: map[string]string{}, invented: map[string]string{}}
		for _, svc := range unusualServices(cloud, randomServices) {
			if choice := opened.Choose(svc); choice.Elsewhere != "" || choice != cloud.Choose(svc) {
				continue // left alone, or the configuration decides on the kind
			}
			d, err := process.Draft(t.Context(), reconcile.Job{Service: svc})
			if err != nil {
				continue // a call that the annotations ask for is refused
			}
			c.compare(svc, d.Problems)
		}
		c.report(t)
	})
}

// checked collects the differences.
type checked struct {
	cloud     providers.Entry
	admission *service.Admission
	except    map[string]string
	missed    map[string]string // a Service, by the problem that the check does not report
	invented  map[string]string // a Service that the controller serves, by the problem that the check reports
	refused   int
}

// compare compares the errors of the controller with those of the check.
func (c *checked) compare(svc *corev1.Service, found annotations.Problems) {
	judged := service.JudgeFields(svc, reconcile.OwnerOf(svc), c.cloud, c.admission)
	for _, p := range found {
		if p.Severity != annotations.Error {
			continue
		}
		c.refused++
		if slices.ContainsFunc(judged.Problems, func(q annotations.Problem) bool {
			return q.Key == p.Key && q.Message == p.Message && q.Severity == p.Severity
		}) {
			continue
		}
		text := p.Key + ": " + p.Message
		if !c.isException(text) {
			c.missed[text] = fmt.Sprintf("%v %v", svc.Annotations, svc.Spec.Ports)
		}
	}
	if found.Errors() {
		return
	}
	for _, p := range judged.Problems {
		if text := p.Key + ": " + p.Message; p.Severity == annotations.Error && !c.isException(text) {
			c.invented[text] = fmt.Sprintf("%v %v", svc.Annotations, svc.Spec.Ports)
		}
	}
}

func (c *checked) isException(text string) bool {
	for pattern := range c.except {
		if regexp.MustCompile(pattern).MatchString(text) {
			return true
		}
	}
	return false
}

func (c *checked) report(t *testing.T) {
	t.Helper()
	for _, text := range slices.Sorted(maps.Keys(c.missed)) {
		t.Errorf("the check does not report %q of\n  %s", text, c.missed[text])
	}
	for _, text := range slices.Sorted(maps.Keys(c.invented)) {
		t.Errorf("the check reports %q of a Service that the controller serves\n  %s", text, c.invented[text])
	}
	if c.refused < randomServices/10 {
		t.Errorf("only %d problems among %d Services", c.refused, randomServices)
	}
}

// unusualServices returns random Services of a cloud, the same in each run.
func unusualServices(cloud providers.Entry, n int) []*corev1.Service {
	var pairs [][2]string
	for _, row := range annotations.Rows(cloud.Annotations) {
		if row.On != annotations.ServiceAnnotation || row.Writer == annotations.ByController {
			continue
		}
		key := strings.NewReplacer("<PORT>", "80", "{port}", "80", "<PROTOCOL>", "TCP").Replace(row.Key)
		values := append([]string{row.Example}, row.Values...)
		if row.Type == "bool" {
			values = append(values, "true", "false")
		}
		for _, bound := range []*int64{row.Min, row.Max} {
			if bound != nil {
				values = append(values, fmt.Sprint(*bound))
			}
		}
		// Keys with many values are not chosen more often than others.
		for i := range 4 {
			pairs = append(pairs, [2]string{key, values[i%len(values)]})
		}
		for _, value := range values[min(4, len(values)):] {
			pairs = append(pairs, [2]string{key, value})
		}
	}
	rng := rand.New(rand.NewPCG(7, uint64(len(cloud.Name))))
	var out []*corev1.Service
	for range n {
		notes := map[string]string{}
		for range 1 + rng.IntN(4) {
			pair := pairs[rng.IntN(len(pairs))]
			notes[pair[0]] = pair[1]
		}
		svc := Service("web", notes).Service
		makeUnusual(rng, &svc.Spec)
		if rng.IntN(3) == 0 && len(cloud.Classes) > 0 {
			svc.Spec.LoadBalancerClass = &cloud.Classes[rng.IntN(len(cloud.Classes))]
		}
		out = append(out, svc)
	}
	return out
}

// makeUnusual gives every second Service a field that most do not have.
func makeUnusual(rng *rand.Rand, s *corev1.ServiceSpec) {
	changes := []func(*corev1.ServiceSpec){
		UDP, Local, Dual,
		func(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP },
		func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] },
		func(s *corev1.ServiceSpec) { s.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol} },
		func(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP },
		func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"192.0.2.0/24"} },
		func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "192.0.2.7" },
		func(s *corev1.ServiceSpec) { s.Ports[0].Protocol = corev1.ProtocolSCTP },
		func(s *corev1.ServiceSpec) { s.Ports[0].NodePort = 0 },
	}
	if n := rng.IntN(2 * len(changes)); n < len(changes) {
		changes[n](s)
	}
}
