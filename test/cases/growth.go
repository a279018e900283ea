package cases

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cputime"
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

// sizes are ports and ranges whose product is 10, 100 and 1,000 for clouds that count a
// rule more for each range, as far as the kind of the Service can have them.
func (z Fuzzer[C, F]) sizes(c Fuzzed[C, F]) [][2]int {
	all := [][2]int{{4, 2}, {9, 10}, {9, 100}}
	return slices.DeleteFunc(all, func(s [2]int) bool { return !z.fits(c, s[0], s[1]) })
}

// fits reports whether the kind of the Service can have so many ports and ranges.
func (z Fuzzer[C, F]) fits(c Fuzzed[C, F], ports, ranges int) bool {
	in, _ := c.Input(Sized(c.Service, ports, ranges))
	return len(providers.Exceeds(z.Cloud.Capabilities, z.Cloud.Reach(in))) == 0
}

// planned plans a Service from an empty cloud, for each form that the fuzzer gives it. Build
// and Compare call over; it may be nil.
func (z Fuzzer[C, F]) planned(t testing.TB, c Fuzzed[C, F], over func() bool) func(*corev1.Service) *stack.Stack {
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

// largest are Services as large as the limits of the kind let them be: with as many ports
// as can be and then as many ranges, and with one port and as many ranges as can be.
func (z Fuzzer[C, F]) largest(t testing.TB, c Fuzzed[C, F]) []*corev1.Service {
	t.Helper()
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
	ports := most(func(n int) bool { return z.fits(c, n, 1) })
	ranges := func(ports int) int { return most(func(n int) bool { return z.fits(c, ports, n) }) }
	return []*corev1.Service{Sized(c.Service, ports, ranges(ports)), Sized(c.Service, 1, ranges(1))}
}

// ceiling is what planning one Service may ask for in all, in bytes. Most of it is free
// again at any time; a sixteenth of what the chart lets the controller have.
const ceiling = 32 << 20

// Largest fails if planning the largest Services takes more memory than the ceiling, or
// if Build and Compare do not end as soon as their time is over.
func (z Fuzzer[C, F]) Largest(t *testing.T) {
	t.Helper()
	c := z.Case(t, z.Sized)
	for _, svc := range z.largest(t, c) {
		size := fmt.Sprintf("%d ports, %d ranges", len(svc.Spec.Ports), len(svc.Spec.LoadBalancerSourceRanges))
		asked := 0
		z.planned(t, c, nil)(svc)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		want := z.planned(t, c, func() bool { asked++; return false })(svc)
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d resources, %d KiB, asked %d times", size, len(want.Resources), took>>10, asked)
		if took > ceiling {
			t.Errorf("%s: planning takes %d MiB, more than %d", size, took>>20, ceiling>>20)
		}
		if asked < len(svc.Spec.Ports) {
			t.Errorf("%s: Build checks %d times whether a caller still waits", size, asked)
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

// repeated is how often planning is repeated for its time, so that what the process does
// besides, such as collecting garbage, is in all times alike.
const repeated = 10

// Growth fails if the work for a Service grows faster than what it asks for, by the memory
// and by the processor time that planning takes.
func (z Fuzzer[C, F]) Growth(t *testing.T) {
	t.Helper()
	c := z.Case(t, z.Sized)
	plan := z.planned(t, c, nil)
	var took []uint64
	for _, s := range z.sizes(c) {
		sized := Sized(c.Service, s[0], s[1])
		plan(sized) // allocations of the first run are not counted
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan(sized)
		runtime.ReadMemStats(&after)
		took = append(took, after.TotalAlloc-before.TotalAlloc)
	}
	spent := func(size int) time.Duration {
		sized := Sized(c.Service, z.sizes(c)[size][0], z.sizes(c)[size][1])
		return cputime.Least(t, func() {
			for range repeated {
				plan(sized)
			}
		}) / repeated
	}
	t.Logf("bytes for 10, 100 and, where they can be, 1,000 ports x ranges: %v", took)
	if len(took) < 2 {
		t.Fatal("there are no two sizes to compare")
	}
	const most, longest = 16, 32 // ten times as much is asked for; time is not as exact as memory
	for i := 1; i < len(took); i++ {
		if took[i] > most*took[i-1] {
			t.Errorf("ten times the size takes %d times the memory: %v", took[i]/took[i-1], took)
		}
		once, tenfold := spent(i-1), spent(i)
		t.Logf("ten times the size takes %.1f times as long: %s, %s", float64(tenfold)/float64(once), once, tenfold)
		if tenfold > longest*once {
			t.Errorf("ten times the size takes %d times as long: %s, %s", tenfold/once, once, tenfold)
		}
	}
}

// Measure measures planning for each of the sizes: how long it takes, how much memory it
// asks for, and both for each port and range.
func (z Fuzzer[C, F]) Measure(b *testing.B) {
	b.Helper()
	c := z.Case(b, z.Sized)
	plan := z.planned(b, c, nil)
	for _, s := range z.sizes(c) {
		sized := Sized(c.Service, s[0], s[1])
		b.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				plan(sized)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*s[0]*s[1]), "ns/port*range")
		})
	}
}
