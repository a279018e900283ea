package model

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

// What a target group can have as targets.
const (
	targetInstance = "instance"
	targetIP       = "ip"
)

// chooseKind returns the kind that a Service requests. A class of the AWS Load Balancer
// Controller prevails over the annotations. Texts are compared exactly, as by the official
// controllers: every unknown one means a Classic Load Balancer, and a check of the
// annotations warns the user.
func chooseKind(service *corev1.Service) providers.Choice {
	if class := service.Spec.LoadBalancerClass; class != nil && *class == classLBC {
		return providers.Choice{Kind: LBC}
	}
	target := service.Annotations[targetTypeKey.Name]
	switch value := service.Annotations[typeKey.Name]; {
	case value == typeNLB:
		return providers.Choice{Kind: NLB}
	case value == typeNLBIP, value == typeExternal && (target == targetIP || target == targetInstance):
		return providers.Choice{Kind: LBC}
	case value == typeExternal:
		return providers.Choice{Elsewhere: fmt.Sprintf(
			"%s: %q leaves the Service to another controller; for a load balancer of kind %s set %s to \"ip\" or \"instance\"",
			typeKey.Name, value, LBC, targetTypeKey.Name)}
	default:
		return providers.Choice{Kind: CLB}
	}
}

// reasonToLeave returns why a Service is left to the AWS Load Balancer Controller, whose kind it
// asks for; empty if it is served here. Two controllers that serve the same Services
// would undo each other's work, so the operator has to confirm that the other one is
// removed.
func reasonToLeave(c Config, service *corev1.Service) string {
	if chooseKind(service).Kind != LBC || c.Controller.Serve {
		return ""
	}
	key, value := typeKey.Name, service.Annotations[typeKey.Name]
	if service.Spec.LoadBalancerClass != nil {
		key, value = "spec.loadBalancerClass", *service.Spec.LoadBalancerClass
	}
	return fmt.Sprintf("%s: %q ", key, value) + "asks for a load balancer of the AWS Load Balancer Controller and is left to it; " +
		"to serve it here, have that controller leave Services alone and set LoadBalancerController = true in the section [Berth] of the cloud config"
}

// targetTypeOf is what the target groups of a Service of kind LBC have as targets.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_target_group.go (buildTargetType).
func targetTypeOf(c Config, service *corev1.Service) string {
	if service.Annotations[typeKey.Name] == typeNLBIP {
		return targetIP
	}
	switch said, ok := service.Annotations[targetTypeKey.Name]; {
	case !ok:
		return c.Controller.completed().TargetType
	case said == targetIP:
		return targetIP
	}
	return targetInstance
}

// podsMatter reports whether the pods of a Service are targets.
func podsMatter(c Config, service *corev1.Service) bool {
	return c.Controller.Serve && chooseKind(service).Kind == LBC && targetTypeOf(c, service) == targetIP
}
