package cases

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Distort returns a copy of a Service in which bytes of a fuzzer have changed annotations,
// ports and fields in ways that a user could. Keys are those of the cloud; <PORT> in them
// becomes a port of the Service. Equal bytes, equal Services.
func Distort(svc *corev1.Service, keys []string, data []byte) *corev1.Service {
	d := &distortion{svc: svc.DeepCopy(), keys: keys, data: data}
	if d.svc.Annotations == nil {
		d.svc.Annotations = map[string]string{}
	}
	for len(d.data) > 0 {
		d.step()
	}
	return d.svc
}

// distortion takes its decisions from bytes.
type distortion struct {
	svc  *corev1.Service
	keys []string
	data []byte
}

// pick is a number below n.
func (d *distortion) pick(n int) int {
	if len(d.data) == 0 || n == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

// text is the rest of the line.
func (d *distortion) text() string {
	line, rest, _ := strings.Cut(string(d.data), "\n")
	d.data = []byte(rest)
	return strings.ToValidUTF8(line, "?")
}

func (d *distortion) step() {
	spec := &d.svc.Spec
	switch d.pick(11) {
	case 0, 1, 2:
		d.annotate()
	case 3:
		n := len(spec.Ports)
		spec.Ports = append(spec.Ports, corev1.ServicePort{Name: fmt.Sprint("fuzz-", n), Protocol: d.protocol(), Port: int32(1 + d.pick(256)), NodePort: int32(30000 + d.pick(256))})
	case 4:
		if n := len(spec.Ports); n > 1 {
			spec.Ports = spec.Ports[:n-1]
		}
	case 5:
		if n := len(spec.Ports); n > 0 {
			spec.Ports[d.pick(n)].Protocol = d.protocol()
		}
	case 6:
		spec.LoadBalancerSourceRanges = append(spec.LoadBalancerSourceRanges, fmt.Sprintf("10.%d.0.0/%d", d.pick(256), 8+d.pick(25)))
	case 7:
		spec.LoadBalancerIP = d.text()
	case 8:
		spec.IPFamilies = [][]corev1.IPFamily{{corev1.IPv4Protocol}, {corev1.IPv6Protocol}, {corev1.IPv4Protocol, corev1.IPv6Protocol}}[d.pick(3)]
	case 9:
		spec.ExternalTrafficPolicy = []corev1.ServiceExternalTrafficPolicy{corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal}[d.pick(2)]
		spec.HealthCheckNodePort = int32(d.pick(2) * 32000)
	case 10:
		spec.SessionAffinity = []corev1.ServiceAffinity{corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP}[d.pick(2)]
	}
}

// annotate writes a key of the cloud with a text, or with what many keys take.
func (d *distortion) annotate() {
	if len(d.keys) == 0 {
		return
	}
	key := d.keys[d.pick(len(d.keys))]
	if n := len(d.svc.Spec.Ports); n > 0 {
		key = strings.NewReplacer("<PORT>", fmt.Sprint(d.svc.Spec.Ports[d.pick(n)].Port), "<PROTOCOL>", "TCP").Replace(key)
	}
	switch d.pick(6) {
	case 0:
		d.svc.Annotations[key] = "true"
	case 1:
		d.svc.Annotations[key] = "false"
	case 2:
		d.svc.Annotations[key] = fmt.Sprint(d.pick(256))
	case 3:
		delete(d.svc.Annotations, key)
	default:
		d.svc.Annotations[key] = d.text()
	}
}

func (d *distortion) protocol() corev1.Protocol {
	return []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}[d.pick(3)]
}

// Distortions are bytes to begin with: each way of changing a Service, alone and
// together.
func Distortions() [][]byte {
	out := [][]byte{nil}
	for op := range byte(11) {
		out = append(out, []byte{op, 1, 2, 3, 4}, []byte{op, 7, 0, 4, 'a', 'b', '\n', 6, 10, 16, 3, 1, 80, 90})
	}
	return out
}
