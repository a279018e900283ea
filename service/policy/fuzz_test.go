package policy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/mutate"
)

// FuzzPolicy reads any file without a panic, and judges with every policy it accepts.
func FuzzPolicy(f *testing.F) {
	mutate.Add(f, 150, []byte(Example), "team-a", "toy.example/groups")
	mutate.Add(f, 150, []byte("rules: [{name: r, namespaces: ['*'], maxPorts: 0, forbidAnnotations: ['*'], names: {'*': []}}]"), "", "")
	mutate.Add(f, 150, []byte("rules:\n- name: \n  namespaces: [\"\\0\"]\n  names: {subnet: [\"**a*\"]}\n"), "x", "toy.example/address")
	f.Fuzz(func(t *testing.T, body []byte, namespace, key string) {
		p, err := Parse(body, newKeys(t))
		if err != nil {
			return
		}
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", Annotations: map[string]string{key: namespace}}}
		reach := providers.Reach{Internet: true, Names: []providers.Naming{{Thing: annotations.ThingSubnet, Key: key, Value: namespace}}, Size: providers.Size{Ports: 1, Rules: 1}}
		if first, second := p.Judge(svc, reach, nil), p.Judge(svc, reach, nil); len(first) != len(second) {
			t.Errorf("judged as %v and as %v", first.Strings(), second.Strings())
		}
	})
}
