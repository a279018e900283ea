package model

import (
	"github.com/berth-lb/berth/annotations"
)

// Prefixes of keys, and where the official controllers read them.
const (
	keyPrefix = "service.beta.kubernetes.io/"
	lbPrefix  = keyPrefix + "aws-load-balancer-"

	cpaMain       = "kubernetes/cloud-provider-aws:pkg/providers/v1/aws.go"
	cpaBalancer   = "kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go"
	cpaValidation = "kubernetes/cloud-provider-aws:pkg/providers/v1/aws_validations.go"
	lbcGuide      = "kubernetes-sigs/aws-load-balancer-controller:docs/guide/service/annotations.md"
)

// Headings of the reference page.
const (
	groupKind     = "Kind and scheme"
	groupSubnets  = "Subnets and addresses"
	groupAccess   = "Client access"
	groupTLS      = "TLS and protocols"
	groupHealth   = "Health check"
	groupBackends = "Backends"
	groupSettings = "Settings"
	groupLogs     = "Access logs"
	groupLBC      = "Of the AWS Load Balancer Controller"
	groupObjects  = "On other objects"
)

// declareAnnotations collects all declarations. An error is a mistake in a declaration,
// which the tests rule out.
func declareAnnotations() (*annotations.Set, error) {
	return annotations.Collect("aws", []string{lbPrefix}, annotationChecks(),
		kindKeys(), accessKeys(), tlsKeys(), healthKeys(), settingKeys(), controllerKeys(), groupKeys(), objectKeys())
}

// Annotations is the set of all keys that the official controllers read.
func Annotations() *annotations.Set {
	set, _ := declareAnnotations() // a set at fault says so on every Service
	return set
}

func onCLB() []string { return []string{CLB} }
func onNLB() []string { return []string{NLB} }
func onLBC() []string { return []string{LBC} }
func onCPA() []string { return []string{CLB, NLB} }
