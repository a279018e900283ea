package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestQUICPorts: UDP becomes QUIC, and both protocols on a port TCP_QUIC; what carries no UDP, and
// what sends to nodes, is refused.
func TestQUICPorts(t *testing.T) {
	c := suite().Open(t, "lbc-pods")
	for name, tc := range map[string]struct {
		keys    map[string]string
		ports   []corev1.ServicePort
		want    string // protocol of the listener
		refused string
	}{
		"udp":       {map[string]string{"quic-enabled-ports": "443"}, []corev1.ServicePort{{Port: 443, Protocol: corev1.ProtocolUDP}}, "QUIC", ""},
		"by name":   {map[string]string{"quic-enabled-ports": "h3"}, []corev1.ServicePort{{Name: "h3", Port: 443, Protocol: corev1.ProtocolUDP}}, "QUIC", ""},
		"another":   {map[string]string{"quic-enabled-ports": "444"}, []corev1.ServicePort{{Port: 443, Protocol: corev1.ProtocolUDP}}, "UDP", ""},
		"both":      {map[string]string{"quic-enabled-ports": "443", "enable-tcp-udp-listener": "true"}, []corev1.ServicePort{{Name: "h2", Port: 443, Protocol: corev1.ProtocolTCP}, {Name: "h3", Port: 443, Protocol: corev1.ProtocolUDP}}, "TCP_QUIC", ""},
		"tcp":       {map[string]string{"quic-enabled-ports": "443"}, []corev1.ServicePort{{Port: 443, Protocol: corev1.ProtocolTCP}}, "", "QUIC uses UDP"},
		"instances": {map[string]string{"quic-enabled-ports": "443", "nlb-target-type": "instance"}, []corev1.ServicePort{{Port: 443, Protocol: corev1.ProtocolUDP, NodePort: 30443}}, "", "needs pods"},
	} {
		svc := c.Service.DeepCopy()
		svc.Spec.Ports = tc.ports
		for key, value := range tc.keys {
			svc.Annotations[lbPrefix+key] = value
		}
		in, problems := c.Input(svc)
		want, more, err := buildStack(in, c.World.Facts, nil)
		if err != nil {
			t.Fatal(err)
		}
		problems = append(problems, more...)
		if tc.refused != "" {
			if text := strings.Join(problems.Strings(), " "); !problems.Errors() || !strings.Contains(text, tc.refused) {
				t.Errorf("%s: problems are %q, want %q", name, text, tc.refused)
			}
			continue
		}
		for _, r := range want.Of(KindListener) {
			if l, ok := r.Spec.(Listener); !ok || l.Protocol != tc.want {
				t.Errorf("%s: %+v, want %s", name, r.Spec, tc.want)
			}
		}
		for _, r := range want.Of(KindTargetGroup) {
			if g, ok := r.Spec.(TargetGroup); !ok || g.Protocol != tc.want {
				t.Errorf("%s: %+v, want %s", name, r.Spec, tc.want)
			}
		}
	}
}

// TestServersOf: ids are those of containers with the variable, by their ports, as AWS takes them.
func TestServersOf(t *testing.T) {
	env := func(value string) []corev1.EnvVar { return []corev1.EnvVar{{Name: serverIDEnv, Value: value}} }
	pod := &corev1.Pod{}
	pod.Spec.Containers = []corev1.Container{
		{Env: env("not base64"), Ports: []corev1.ContainerPort{{ContainerPort: 1}}},
		{Env: env("AAAA"), Ports: []corev1.ContainerPort{{ContainerPort: 2}}},
		{Env: env("AAAAAAAAAP8="), Ports: []corev1.ContainerPort{{ContainerPort: 3}}},
	}
	pod.Spec.InitContainers = []corev1.Container{
		{Env: env("AAAAAAAAAAE="), Ports: []corev1.ContainerPort{{ContainerPort: 4}}},
		{Env: env("AAAAAAAAAAI="), Ports: []corev1.ContainerPort{{ContainerPort: 5}}, RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
	}
	if got := ServersOf(pod).at(3); got != "" {
		t.Errorf("a pod that asks for no id has %q", got)
	}
	pod.Annotations = map[string]string{quicContainersKey: "proxy"}
	got := ServersOf(pod)
	want := Servers{Any: "0x00000000000000ff", ByPort: map[int32]string{3: "0x00000000000000ff", 5: "0x0000000000000002"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got.at(9) != want.Any || got.at(5) != want.ByPort[5] {
		t.Errorf("ports have %q and %q", got.at(9), got.at(5))
	}
}
