package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestPodsMatter: a pod that is created or deleted does not affect a Service whose
// backends are all nodes.
func TestPodsMatter(t *testing.T) {
	internal := map[string]string{typeKey.Name: "Internal"}
	for name, tt := range map[string]struct {
		annotations map[string]string
		finalizers  []string
		class       string
		cluster     bool // with policy Cluster
		local       bool // with policy Local
	}{
		"class external":                    {class: classExternal, cluster: true, local: true},
		"opted in":                          {annotations: map[string]string{rbsKey.Name: "enabled"}, cluster: true, local: true},
		"class internal":                    {class: classInternal, local: true},
		"class external, older":             {class: classExternalLegacy},
		"class internal, older":             {class: classInternalLegacy},
		"external, new: may become another": {local: true},
		"external, has a target pool":       {finalizers: []string{finalizerPool}},
		"internal, new: may become another": {annotations: internal, local: true},
		"internal, has instance groups":     {annotations: internal, finalizers: []string{finalizerInternalIG}},
		"internal, has endpoint groups":     {annotations: internal, finalizers: []string{finalizerInternalNEG}, local: true},
	} {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{LoadBalancerClass: &tt.class}}
		svc.Annotations, svc.Finalizers = tt.annotations, tt.finalizers
		if tt.class == "" {
			svc.Spec.LoadBalancerClass = nil
		}
		for policy, want := range map[corev1.ServiceExternalTrafficPolicy]bool{
			corev1.ServiceExternalTrafficPolicyCluster: tt.cluster, corev1.ServiceExternalTrafficPolicyLocal: tt.local,
		} {
			svc.Spec.ExternalTrafficPolicy = policy
			if got := podsMatter(svc); got != want {
				t.Errorf("%s, policy %s: %t", name, policy, got)
			}
		}
	}
}

// TestAffinity: every kind keeps clients on a node by their address if the Service
// asks for it; for how long can be said only of strong affinity, within bounds.
func TestAffinity(t *testing.T) {
	seconds := func(n int32) *corev1.SessionAffinityConfig {
		return &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &n}}
	}
	strong := map[string]string{strongKey.Name: "enabled"}
	classes := map[string]string{TargetPool: classExternalLegacy, NetLB: classExternal, InternalIG: classInternalLegacy, InternalNEG: classInternal}
	for name, tt := range map[string]struct {
		kind     string
		says     map[string]string
		affinity corev1.ServiceAffinity
		config   *corev1.SessionAffinityConfig
		want     string
		idle     int64
		refused  bool
	}{
		"pool":                        {kind: TargetPool, affinity: "ClientIP", config: seconds(100), want: affinityClientIP},
		"instance groups":             {kind: InternalIG, affinity: "ClientIP", config: seconds(100), want: affinityClientIP},
		"endpoint groups":             {kind: InternalNEG, affinity: "ClientIP", config: seconds(100), want: affinityClientIP},
		"external":                    {kind: NetLB, affinity: "ClientIP", config: seconds(100), want: affinityClientIP},
		"none":                        {kind: NetLB, affinity: "None", want: AffinityNone},
		"strong, lowest":              {kind: NetLB, says: strong, affinity: "ClientIP", config: seconds(60), want: affinityClientIP, idle: 60},
		"strong, highest":             {kind: NetLB, says: strong, affinity: "ClientIP", config: seconds(57600), want: affinityClientIP, idle: 57600},
		"strong, too short":           {kind: NetLB, says: strong, affinity: "ClientIP", config: seconds(59), refused: true},
		"strong, too long":            {kind: NetLB, says: strong, affinity: "ClientIP", config: seconds(57601), refused: true},
		"strong, without a time":      {kind: NetLB, says: strong, affinity: "ClientIP", refused: true},
		"strong, without affinity":    {kind: NetLB, says: strong, affinity: "None", refused: true},
		"strong, where there is none": {kind: InternalNEG, says: strong, affinity: "ClientIP", config: seconds(60), want: affinityClientIP},
	} {
		t.Run(name, func(t *testing.T) {
			c := suite().Open(t, "tp-basic")
			svc := c.Service
			svc.Annotations, svc.Spec.LoadBalancerClass = tt.says, new(classes[tt.kind])
			svc.Spec.SessionAffinity, svc.Spec.SessionAffinityConfig = tt.affinity, tt.config
			in, _ := inputOf(c.Config, svc, c.World.Nodes)
			want, problems, err := buildStack(in, c.World.Facts, nil)
			if err != nil || problems.Errors() != tt.refused {
				t.Fatal(err, problems.Strings())
			}
			if tt.refused {
				return
			}
			affinity, idle := "", int64(0)
			for _, r := range want.Resources {
				switch spec := r.Spec.(type) {
				case Pool:
					affinity = spec.Affinity
				case Backend:
					affinity = spec.Affinity
					if spec.Tracking != nil {
						idle = spec.Tracking.IdleTimeout
					}
				}
			}
			if affinity != tt.want || idle != tt.idle {
				t.Errorf("%s for %d s, want %s for %d s", affinity, idle, tt.want, tt.idle)
			}
		})
	}
}
