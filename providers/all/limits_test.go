package all_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
)

// largeService returns a Service with so many ports and ranges of clients.
func largeService(ports, ranges int) *corev1.Service {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "0a1b"}}
	svc.Spec.Type, svc.Spec.IPFamilies = corev1.ServiceTypeLoadBalancer, []corev1.IPFamily{corev1.IPv4Protocol}
	for i := range ports {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint("p", i), Protocol: corev1.ProtocolTCP, Port: int32(1 + i), NodePort: int32(30000 + i)})
	}
	for i := range ranges {
		svc.Spec.LoadBalancerSourceRanges = append(svc.Spec.LoadBalancerSourceRanges, fmt.Sprintf("10.%d.%d.0/24", i/256, i%256))
	}
	return svc
}

// limitProblems returns a cloud's problems with the size of a Service of a kind.
func limitProblems(entry providers.Entry, kind string, svc *corev1.Service) annotations.Problems {
	bag, _ := entry.Annotations.Parse(kind, annotations.SourceOf(svc))
	return providers.Exceeds(entry.Capabilities, entry.Reach(providers.Request{Service: svc, Kind: kind, Values: bag}))
}

// TestLimits: on every cloud each kind has a limit of ports and of what ports and
// ranges come to, what is at the limit passes, and what is beyond it is one problem.
func TestLimits(t *testing.T) {
	for _, entry := range all.List() {
		for _, c := range entry.Capabilities {
			t.Run(entry.Name+"/"+c.Kind, func(t *testing.T) {
				l := c.Limits
				if l.Ports == 0 || l.Ranges == 0 && l.Rules == 0 {
					t.Fatalf("limits %+v leave something open", l)
				}
				if told := limitProblems(entry, c.Kind, largeService(l.Ports, 1)); told != nil {
					t.Errorf("%d ports are refused: %v", l.Ports, told.Strings())
				}
				told := limitProblems(entry, c.Kind, largeService(l.Ports+1, 1))
				if len(told) != 1 || told[0].Code != annotations.CodePorts || !strings.Contains(told[0].Message, fmt.Sprint(l.Ports)) {
					t.Errorf("%d ports: %v", l.Ports+1, told.Strings())
				}
				most := l.Ranges
				if l.Rules > 0 && (most == 0 || most > l.Rules) && entry.Name != "azure" {
					most = l.Rules / 2 // with one port, and one more entry for each range
				}
				if told := limitProblems(entry, c.Kind, largeService(1, most)); told != nil {
					t.Errorf("%d ranges are refused: %v", most, told.Strings())
				}
				if told := limitProblems(entry, c.Kind, largeService(1, most+1)); len(told) != 1 || told[0].Code != annotations.CodeRanges {
					t.Errorf("%d ranges: %v", most+1, told.Strings())
				}
			})
		}
	}
}

// TestHostileIsCheap: what a Service as large as the API server takes is refused within
// the time of a blink, before any cloud is asked. The bound is generous: without limits
// this took minutes.
func TestHostileIsCheap(t *testing.T) {
	svc := largeService(1000, 1000)
	svc.Annotations = map[string]string{}
	for i := range 4500 {
		svc.Annotations[fmt.Sprintf("service.beta.kubernetes.io/aws-load-balancer-%d-unknown", i)] = "x"
	}
	for _, entry := range all.List() {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		done := make(chan annotations.Problems)
		go func() {
			kind := entry.Choose(svc).Kind
			bag, problems := entry.Annotations.Parse(kind, annotations.SourceOf(svc))
			entry.Exposed(providers.Request{Service: svc, Kind: kind, Values: bag})
			done <- append(problems, limitProblems(entry, kind, svc)...)
		}()
		select {
		case <-ctx.Done():
			t.Errorf("%s is not done with it", entry.Name)
		case problems := <-done:
			refuses := entry.Name == "alibaba" || entry.Name == "aws" || entry.Name == "baidu" || entry.Name == "ibm" || entry.Name == "oci" || entry.Name == "openstack" || entry.Name == "tencent" // elsewhere a rule holds all of them
			if problems.Errors() != refuses {
				t.Errorf("%s: %d problems, refused: %v, want %v", entry.Name, len(problems), problems.Errors(), refuses)
			}
		}
		cancel()
	}
}

// BenchmarkRefused is what a hostile Service costs until it is refused.
func BenchmarkRefused(b *testing.B) {
	svc := largeService(1000, 1000)
	svc.Annotations = map[string]string{}
	for i := range 4500 {
		svc.Annotations[fmt.Sprintf("service.beta.kubernetes.io/aws-load-balancer-%d-unknown", i)] = "x"
	}
	for _, entry := range all.List() {
		b.Run(entry.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				kind := entry.Choose(svc).Kind
				bag, _ := entry.Annotations.Parse(kind, annotations.SourceOf(svc))
				entry.Exposed(providers.Request{Service: svc, Kind: kind, Values: bag})
				limitProblems(entry, kind, svc)
			}
		})
	}
}
