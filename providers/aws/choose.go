package aws

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Texts of the kind annotation that do not mean a Classic Load Balancer.
const (
	typeNLB      = "nlb"
	typeNLBIP    = "nlb-ip"
	typeExternal = "external"
)

// choose says which kind a Service asks for. The comparison is exact, as that of
// the official controller: every text that is not known means a Classic Load
// Balancer, which a check of the annotations then tells the user.
func choose(service *corev1.Service) providers.Choice {
	switch value := service.Annotations[typeKey.Name]; value {
	case typeNLB:
		return providers.Choice{Kind: NLB}
	case typeNLBIP, typeExternal:
		return providers.Choice{Elsewhere: fmt.Sprintf(
			"%s: %q asks for a load balancer of the AWS Load Balancer Controller, a kind that this version does not yet support, so the Service is left to that controller",
			typeKey.Name, value)}
	default:
		return providers.Choice{Kind: CLB}
	}
}
