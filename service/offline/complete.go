package offline

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/status"
)

// Node ports that a cluster assigns by default.
// Source: kubernetes/kubernetes:pkg/controlplane/apiserver/options.
const (
	firstNodePort int32 = 30000
	lastNodePort  int32 = 32767
)

// affinitySeconds is the time-out of client affinity that the API server fills in.
// Source: Kubernetes API reference, SessionAffinityConfig.
const affinitySeconds int32 = 10800

// setDefaults fills in what the API server does without looking at the cluster.
// Source: kubernetes/kubernetes:pkg/apis/core/v1/defaults.go.
func setDefaults(svc *corev1.Service) {
	spec := &svc.Spec
	orDefault(&spec.Type, corev1.ServiceTypeClusterIP)
	orDefault(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	if spec.SessionAffinity == corev1.ServiceAffinityClientIP && spec.SessionAffinityConfig == nil {
		spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: new(affinitySeconds)}}
	}
	for i := range spec.Ports {
		p := &spec.Ports[i]
		orDefault(&p.Protocol, corev1.ProtocolTCP)
		if p.TargetPort == (intstr.IntOrString{}) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if spec.InternalTrafficPolicy == nil {
		spec.InternalTrafficPolicy = new(corev1.ServiceInternalTrafficPolicyCluster)
	}
	setFamilies(spec)
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		return
	}
	orDefault(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	if spec.AllocateLoadBalancerNodePorts == nil {
		spec.AllocateLoadBalancerNodePorts = new(true)
	}
}

// setFamilies chooses the families of a cluster whose first family is IPv4,
// which is what a file alone cannot tell.
func setFamilies(spec *corev1.ServiceSpec) {
	if spec.IPFamilyPolicy == nil {
		spec.IPFamilyPolicy = new(corev1.IPFamilyPolicySingleStack)
		if len(spec.IPFamilies) > 1 {
			*spec.IPFamilyPolicy = corev1.IPFamilyPolicyRequireDualStack
		}
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if *spec.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack && len(spec.IPFamilies) == 1 {
		other := corev1.IPv6Protocol
		if spec.IPFamilies[0] == corev1.IPv6Protocol {
			other = corev1.IPv4Protocol
		}
		spec.IPFamilies = append(spec.IPFamilies, other)
	}
}

func orDefault[T ~string](field *T, value T) {
	if *field == "" {
		*field = value
	}
}

// makeUp gives the Service what only a cluster assigns, the same for the same
// file every time, and says in words what that was.
func makeUp(svc *corev1.Service, ports *nodePorts) []string {
	if svc.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return nil
	}
	var made []string
	if svc.UID == "" {
		svc.UID = madeUpUID(svc)
		made = append(made, "uid "+string(svc.UID)+", which names in the cloud are made from")
	}
	if given := ports.assign(svc); len(given) > 0 {
		made = append(made, "node port "+strings.Join(given, ", "))
	}
	if svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && svc.Spec.HealthCheckNodePort == 0 {
		svc.Spec.HealthCheckNodePort = ports.free(svc.Namespace + "/" + svc.Name + " health check")
		made = append(made, fmt.Sprintf("health check node port %d", svc.Spec.HealthCheckNodePort))
	}
	return made
}

func madeUpUID(svc *corev1.Service) types.UID {
	return types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte(status.Prefix+svc.Namespace+"/"+svc.Name)).String())
}

// nodePorts knows which node ports of the cluster are taken.
type nodePorts struct{ taken map[int32]bool }

func newNodePorts(services []*corev1.Service) *nodePorts {
	n := &nodePorts{taken: map[int32]bool{}}
	for _, svc := range services {
		n.take(svc)
	}
	return n
}

// take marks what the Service has as taken.
func (n *nodePorts) take(svc *corev1.Service) {
	n.taken[svc.Spec.HealthCheckNodePort] = true
	for _, p := range svc.Spec.Ports {
		n.taken[p.NodePort] = true
	}
}

// assign gives the ports without a node port one each, unless the Service
// forbids it, and says which. Two protocols on one port share the node port.
// Source: kubernetes/kubernetes:pkg/registry/core/service/storage/alloc.go.
func (n *nodePorts) assign(svc *corev1.Service) []string {
	if !*svc.Spec.AllocateLoadBalancerNodePorts {
		return nil
	}
	var given []string
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		if p.NodePort != 0 {
			continue
		}
		shared := slices.IndexFunc(svc.Spec.Ports, func(q corev1.ServicePort) bool {
			return q.Port == p.Port && q.Protocol != p.Protocol && q.NodePort != 0
		})
		if shared >= 0 {
			p.NodePort = svc.Spec.Ports[shared].NodePort
		} else {
			p.NodePort = n.free(fmt.Sprintf("%s/%s %d/%s", svc.Namespace, svc.Name, p.Port, p.Protocol))
		}
		given = append(given, fmt.Sprintf("%d for %d/%s", p.NodePort, p.Port, p.Protocol))
	}
	return given
}

// free returns an unused port: the one derived from the name, or the next one. If all
// are used it is 0, as before the assignment.
func (n *nodePorts) free(name string) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	count := lastNodePort - firstNodePort + 1
	start := int32(h.Sum32() % uint32(count))
	for i := range count {
		if port := firstNodePort + (start+i)%count; !n.taken[port] {
			n.taken[port] = true
			return port
		}
	}
	return 0
}

// inheritAssigned copies the values that the cluster assigned to the live Service into the
// Service of a file, as an update would. Everything else is taken from the file.
func inheritAssigned(svc, live *corev1.Service) {
	svc.UID, svc.CreationTimestamp = live.UID, live.CreationTimestamp
	svc.Finalizers, svc.DeletionTimestamp = live.Finalizers, live.DeletionTimestamp
	svc.Status = live.Status
	if applied, ok := live.Annotations[status.AnnotationApplied]; ok {
		if svc.Annotations == nil {
			svc.Annotations = map[string]string{}
		}
		svc.Annotations[status.AnnotationApplied] = applied
	}
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		for _, q := range live.Spec.Ports {
			if p.NodePort == 0 && p.Port == q.Port && (p.Protocol == q.Protocol || p.Protocol == "" && q.Protocol == corev1.ProtocolTCP) {
				p.NodePort = q.NodePort
			}
		}
	}
	if svc.Spec.HealthCheckNodePort == 0 && svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		svc.Spec.HealthCheckNodePort = live.Spec.HealthCheckNodePort
	}
	if svc.Spec.IPFamilyPolicy == nil && len(svc.Spec.IPFamilies) == 0 {
		svc.Spec.IPFamilyPolicy, svc.Spec.IPFamilies = live.Spec.IPFamilyPolicy, live.Spec.IPFamilies
	}
	svc.Spec.ClusterIP, svc.Spec.ClusterIPs = live.Spec.ClusterIP, live.Spec.ClusterIPs
}
