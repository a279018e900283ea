package service

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/policy"
)

// Admission limits what Services may request: the policy file and the allowed
// namespaces. It is safe for concurrent use.
type Admission struct {
	file       string
	namespaces []string
	keys       *annotations.Set
	outputs    []string
	// beside lists the Services that count in a namespace; nil: unknown.
	beside func(namespace string) []*corev1.Service

	renewing sync.Mutex
	body     []byte // of the file as last read; under the mutex
	current  atomic.Pointer[policy.Policy]
}

// NewAdmission reads the policy file (empty: there is none) for a cloud.
// Namespaces are patterns of the namespaces whose Services are served; none means all.
func NewAdmission(file string, namespaces []string, cloud providers.Bound) (*Admission, error) {
	return AdmissionOf(file, namespaces, cloud.Annotations, cloud.Outputs)
}

// AdmissionOf is NewAdmission for a cloud that is not open.
func AdmissionOf(file string, namespaces []string, keys *annotations.Set, outputs providers.Outputs) (*Admission, error) {
	a := &Admission{file: file, namespaces: namespaces, keys: keys, outputs: outputs.Annotations}
	if file == "" {
		a.current.Store((&policy.Policy{}).Within(namespaces))
		return a, nil
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if err := a.take(body); err != nil {
		return nil, err
	}
	return a, nil
}

// take applies the file that was read, if it is valid.
func (a *Admission) take(body []byte) error {
	a.body = body
	p, err := policy.Parse(body, a.keys, a.outputs...)
	if err != nil {
		return err
	}
	a.current.Store(p.Within(a.namespaces))
	return nil
}

// Beside sets the function that lists the Services of type LoadBalancer of a namespace,
// for limits of their number. It must be called before Judge.
func (a *Admission) Beside(list func(namespace string) []*corev1.Service) {
	if a != nil {
		a.beside = list
	}
}

// Judge lists the requests of a Service that are not permitted.
func (a *Admission) Judge(svc *corev1.Service, reach providers.Reach) annotations.Problems {
	return a.current.Load().Judge(svc, reach, func() int {
		if a.beside == nil {
			return 0
		}
		n := 0
		for _, other := range a.beside(svc.Namespace) {
			if other.Name != svc.Name && other.Spec.Type == corev1.ServiceTypeLoadBalancer && isOlder(other, svc) {
				n++
			}
		}
		return n
	})
}

// isOlder reports whether a is the older one of two Services; names decide between
// Services of the same second.
func isOlder(a, b *corev1.Service) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}

// policyInterval is the interval at which the policy file is read. A kubelet takes longer
// than that to update a changed ConfigMap.
const policyInterval = 5 * time.Second

// Renew reloads the file if it has changed, and reports whether it has. It fails for a
// file that cannot be read, and once for an invalid one: the previous policy stays in
// force.
func (a *Admission) Renew() (changed bool, err error) {
	if a == nil || a.file == "" {
		return false, nil
	}
	a.renewing.Lock()
	defer a.renewing.Unlock()
	body, err := os.ReadFile(a.file)
	if err != nil {
		return false, fmt.Errorf("policy: %w", err)
	}
	if bytes.Equal(body, a.body) {
		return false, nil
	}
	if err := a.take(body); err != nil {
		return false, err
	}
	return true, nil
}

// watch reloads the file when it changes, and reports changes.
func (a *Admission) watch(ctx context.Context, c clock.WithTicker, changed func()) {
	if a == nil || a.file == "" {
		return
	}
	log := klog.FromContext(ctx)
	ticker := c.NewTicker(policyInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		news, err := a.Renew()
		if err != nil {
			log.Error(err, "the policy before stays in force")
			continue
		}
		if news {
			log.Info("the policy file has changed and is in force")
			changed()
		}
	}
}

// policyChanged queues every Service.
func (c *Controller) policyChanged() {
	for _, key := range c.seen.keys() {
		c.queue.Add(key, byNodes)
	}
}
