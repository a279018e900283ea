package aws_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-lb/berth/providers/aws/model"
	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const (
	quicKey        = "service.beta.kubernetes.io/aws-load-balancer-quic-enabled-ports"
	quicContainers = "service.beta.kubernetes.io/aws-load-balancer-quic-enabled-containers"
)

// quicPod is a pod with an id whose last byte is n; without one for 0.
func quicPod(n int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "web", Name: fmt.Sprint("pod-", n), UID: types.UID(fmt.Sprint("uid-", n)), Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{quicContainers: "proxy"},
	}}
	pod.Spec.Containers = []corev1.Container{{Name: "proxy", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}}
	if n > 0 {
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "AWS_LBC_QUIC_SERVER_ID", Value: []string{"", "AAAAAAAAAAE=", "AAAAAAAAAAI=", "AAAAAAAAAAM="}[n]}}
	}
	return pod
}

// slicesWithPods returns slices whose endpoints are pods with numbers.
func slicesWithPods(slices []*discoveryv1.EndpointSlice, numbers ...int) []*discoveryv1.EndpointSlice {
	for i := range slices[0].Endpoints {
		slices[0].Endpoints[i].TargetRef = &corev1.ObjectReference{Kind: "Pod", UID: types.UID(fmt.Sprint("uid-", numbers[i]))}
	}
	slices[0].Ports[0].Protocol = new(corev1.ProtocolUDP)
	return slices
}

// TestQUIC: a UDP port that is to speak QUIC gets a listener and a target group for it, and pods
// are targets by their ids; a pod without one is left out, and told.
func TestQUIC(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		o := newRollout(t)
		client := fake.NewClientset(quicPod(0), quicPod(1), quicPod(2), quicPod(3))
		o.subject.pods = berth.ListPods(client)
		o.svc.Namespace = "web"
		o.svc.Spec.Selector = map[string]string{"app": "web"}
		o.svc.Spec.Ports[0].Protocol = corev1.ProtocolUDP
		o.restart()
		o.serve(slicesWithPods(o.pods(0, 2), 1, 2))

		o.svc.Annotations[quicKey] = fmt.Sprint(o.svc.Spec.Ports[0].Port)
		o.restart()
		o.serve(slicesWithPods(o.pods(0, 3), 1, 2, 0))
		d, err := o.r.Draft(t.Context(), reconcile.Job{Service: o.svc, Slices: slicesWithPods(o.pods(0, 4), 1, 2, 0, 3), Look: true})
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(d.Problems.Strings(), "\n"); !strings.Contains(text, "no id for QUIC") {
			t.Errorf("problems are %q, want the pod without an id", text)
		}
		o.r.Run(t.Context(), d, nil)
		o.restart()
		d, err = o.r.Draft(t.Context(), reconcile.Job{Service: o.svc, Slices: slicesWithPods(o.pods(0, 4), 1, 2, 0, 3), Look: true})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range d.Have.Resources {
			switch spec := r.Spec.(type) {
			case model.Listener:
				if spec.Protocol != "QUIC" {
					t.Errorf("listener speaks %s", spec.Protocol)
				}
			case model.Targets:
				for _, target := range spec.Targets {
					if strings.HasPrefix(target.Server, "0x") {
						ids = append(ids, target.Server)
					}
				}
			}
		}
		slices.Sort(ids)
		if want := []string{"0x0000000000000001", "0x0000000000000002", "0x0000000000000003"}; !slices.Equal(ids, want) {
			t.Errorf("targets have ids %v, want %v", ids, want)
		}
		o.svc.Annotations["service.beta.kubernetes.io/aws-load-balancer-scheme"] = "nowhere"
		o.restart()
		if d, err = o.r.Draft(t.Context(), reconcile.Job{Service: o.svc, Slices: slicesWithPods(o.pods(0, 4), 1, 2, 0, 3), Look: true}); err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Plan.Steps {
			t.Errorf("a Service that cannot be understood has %s", s.ID)
		}
		delete(o.svc.Annotations, "service.beta.kubernetes.io/aws-load-balancer-scheme")
		if lists := len(client.Actions()); lists > 4 {
			t.Errorf("pods were listed %d times, want once for each process and when some came", lists)
		}
	})
}
