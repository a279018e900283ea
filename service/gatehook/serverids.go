package gatehook

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ServerIDPath is where the webhook answers that gives containers ids for QUIC.
const ServerIDPath = "/quic-server-ids"

// The annotation that names containers, and the variable in which their programs find the
// id, eight bytes in base64: those of the AWS Load Balancer Controller.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/inject/quic.
const (
	quicContainers = "service.beta.kubernetes.io/aws-load-balancer-quic-enabled-containers"
	serverIDEnv    = "AWS_LBC_QUIC_SERVER_ID"
	serverIDBytes  = 8
)

// serverIDs returns the JSON patch that gives each named container of a pod without an id
// a new one; nil if there is none. Ids are random: of a million two are equal once in 37
// million clusters.
func serverIDs(pod *corev1.Pod) ([]byte, error) {
	said, ok := pod.Annotations[quicContainers]
	if !ok {
		return nil, nil
	}
	var named []string
	for name := range strings.SplitSeq(said, ",") {
		named = append(named, strings.TrimSpace(name))
	}
	var out []operation
	add := func(list string, containers []corev1.Container) {
		for i, c := range containers {
			if !slices.Contains(named, c.Name) || slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == serverIDEnv }) {
				continue
			}
			raw := make([]byte, serverIDBytes)
			_, _ = rand.Read(raw) // never fails
			env := append(slices.Clone(c.Env), corev1.EnvVar{Name: serverIDEnv, Value: base64.StdEncoding.EncodeToString(raw)})
			out = append(out, operation{Op: "add", Path: fmt.Sprintf("/spec/%s/%d/env", list, i), Value: env})
		}
	}
	add("containers", pod.Spec.Containers)
	add("initContainers", pod.Spec.InitContainers)
	if len(out) == 0 {
		return nil, nil
	}
	return json.Marshal(out)
}
