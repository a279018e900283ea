package cases

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Sized returns a copy of a Service with so many ports and ranges of clients.
func Sized(svc *corev1.Service, ports, ranges int) *corev1.Service {
	out := svc.DeepCopy()
	out.Spec.Ports, out.Spec.LoadBalancerSourceRanges = nil, nil
	for n := range ports {
		out.Spec.Ports = append(out.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint("p", n), Protocol: corev1.ProtocolTCP, Port: int32(1000 + n), NodePort: int32(30000 + n)})
	}
	for n := range ranges {
		out.Spec.LoadBalancerSourceRanges = append(out.Spec.LoadBalancerSourceRanges, fmt.Sprintf("10.%d.%d.0/25", n/250, n%250))
	}
	return out
}

// Sizes are ports and ranges whose product is 10, 100 and 1,000 for clouds that count a
// rule more for each range.
func Sizes() [][2]int { return [][2]int{{4, 2}, {9, 10}, {9, 100}} }

// Planned plans a Service anew, whatever it is made into. over is asked by Build and
// Compare; nil: nobody is.
func (z Fuzzer[C, F]) Planned(t testing.TB, c Fuzzed[C, F], over func() bool) func(*corev1.Service) *stack.Stack {
	return func(svc *corev1.Service) *stack.Stack {
		in, _ := c.Input(svc)
		in.Over = over
		have := &stack.Stack{Owner: in.Owner}
		want, problems, err := z.Cloud.Build(in, c.Facts, have)
		if err != nil || want == nil {
			t.Fatal(err, problems.Strings())
		}
		z.compare(c, want, have)
		return want
	}
}

// Largest are Services as large as the limits of the kind let them be: with as many ports
// as can be and then as many ranges, and with one port and as many ranges as can be.
func (z Fuzzer[C, F]) Largest(t testing.TB, c Fuzzed[C, F]) []*corev1.Service {
	t.Helper()
	fits := func(ports, ranges int) bool {
		in, _ := c.Input(Sized(c.Service, ports, ranges))
		return len(providers.Exceeds(z.Cloud.Capabilities, z.Cloud.Reach(in))) == 0
	}
	most := func(fits func(int) bool) int {
		n := 1
		for n < 1<<14 && fits(2*n) {
			n *= 2
		}
		for step := n / 2; step > 0; step /= 2 {
			if fits(n + step) {
				n += step
			}
		}
		return n
	}
	ports := most(func(n int) bool { return fits(n, 1) })
	ranges := func(ports int) int { return most(func(n int) bool { return fits(ports, n) }) }
	return []*corev1.Service{Sized(c.Service, ports, ranges(ports)), Sized(c.Service, 1, ranges(1))}
}

// ceiling is what planning one Service may ask for in all, in bytes. Most of it is free
// again at any time; a sixteenth of what the chart lets the controller have.
const ceiling = 32 << 20

// Bounded fails if planning the largest Services takes more memory than the ceiling, or
// if Build and Compare do not end as soon as their time is over.
func (z Fuzzer[C, F]) Bounded(t *testing.T, c Fuzzed[C, F]) {
	t.Helper()
	for _, svc := range z.Largest(t, c) {
		size := fmt.Sprintf("%d ports, %d ranges", len(svc.Spec.Ports), len(svc.Spec.LoadBalancerSourceRanges))
		asked := 0
		z.Planned(t, c, nil)(svc)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		want := z.Planned(t, c, func() bool { asked++; return false })(svc)
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d resources, %d KiB, asked %d times", size, len(want.Resources), took>>10, asked)
		if took > ceiling {
			t.Errorf("%s: planning takes %d MiB, more than %d", size, took>>20, ceiling>>20)
		}
		if asked < len(svc.Spec.Ports) {
			t.Errorf("%s: Build asks %d times whether somebody waits", size, asked)
		}
		asked = 0
		in, _ := c.Input(svc)
		in.Over = func() bool { asked++; return true }
		short, problems, err := z.Cloud.Build(in, c.Facts, &stack.Stack{Owner: in.Owner})
		if err != nil || asked == 0 || asked > 64 {
			t.Errorf("%s: Build asks %d times after its time was over: %v %v", size, asked, err, problems.Strings())
		}
		if short != nil && len(svc.Spec.Ports) > 1 && len(want.Resources) > 64 && len(short.Resources) >= len(want.Resources) {
			t.Errorf("%s: all is built after the time was over", size)
		}
	}
}

// NearLinear fails if the work for a Service grows faster than what it asks for: memory
// stands for time, since it is the same on a busy machine. plan plans a Service.
func NearLinear(t *testing.T, svc *corev1.Service, plan func(*corev1.Service) *stack.Stack) {
	t.Helper()
	var took []uint64
	for _, s := range Sizes() {
		sized := Sized(svc, s[0], s[1])
		plan(sized) // what is made once is not counted
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan(sized)
		runtime.ReadMemStats(&after)
		took = append(took, after.TotalAlloc-before.TotalAlloc)
	}
	t.Logf("bytes for 10, 100 and 1,000 ports x ranges: %v", took)
	const most = 16 // ten times as much is asked for
	for i := 1; i < len(took); i++ {
		if took[i] > most*took[i-1] {
			t.Errorf("ten times the size takes %d times the memory: %v", took[i]/took[i-1], took)
		}
	}
}

// BenchmarkSizes measures plan for each of the Sizes: how long it takes, how much memory it
// asks for, and both for each port and range.
func BenchmarkSizes(b *testing.B, svc *corev1.Service, plan func(*corev1.Service) *stack.Stack) {
	for _, s := range Sizes() {
		sized := Sized(svc, s[0], s[1])
		b.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				plan(sized)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*s[0]*s[1]), "ns/port*range")
		})
	}
}
