package service

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/policy"
)

// Admission says what Services may ask for: the policy file and the allowed
// namespaces. It is safe for concurrent use.
type Admission struct {
	file       string
	namespaces []string
	keys       *annotations.Set
	outputs    []string

	body    []byte // of the file as it was read last; only the watcher writes it
	current atomic.Pointer[policy.Policy]
}

// NewAdmission reads the policy file (empty: there is none) for a cloud.
// Namespaces are patterns of those whose Services are served; none means all.
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

// take puts what was read in force, if it can be understood.
func (a *Admission) take(body []byte) error {
	a.body = body
	p, err := policy.Parse(body, a.keys, a.outputs...)
	if err != nil {
		return err
	}
	a.current.Store(p.Within(a.namespaces))
	return nil
}

// Judge lists what a Service asks for and must not.
func (a *Admission) Judge(svc *corev1.Service, reach providers.Reach) annotations.Problems {
	return a.current.Load().Judge(svc, reach)
}

// policyInterval is how often the policy file is looked at. A kubelet takes longer
// than that to bring a changed ConfigMap.
const policyInterval = 5 * time.Second

// watch takes the file over when it changes, and tells. A file that cannot be read
// or understood leaves what was in force before.
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
		body, err := os.ReadFile(a.file)
		if err == nil && bytes.Equal(body, a.body) {
			continue
		}
		if err == nil {
			err = a.take(body)
		}
		if err != nil {
			log.Error(err, "the policy before stays in force")
			continue
		}
		log.Info("the policy file has changed and is in force")
		changed()
	}
}

// policyChanged looks at every Service again.
func (c *Controller) policyChanged() {
	for _, key := range c.seen.keys() {
		c.queue.AddBy(key, byNodes)
	}
}
