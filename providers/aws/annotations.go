package aws

import (
	corev1 "k8s.io/api/core/v1"

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
	groupAccess   = "Who may connect"
	groupTLS      = "TLS and protocols"
	groupHealth   = "Health check"
	groupBackends = "Backends"
	groupSettings = "Settings"
	groupLogs     = "Access logs"
	groupLBC      = "Of the AWS Load Balancer Controller"
	groupObjects  = "On other objects"
)

// declared puts all declarations together. An error is a fault of theirs, which
// the tests rule out.
func declared() (*annotations.Set, error) {
	var all []annotations.Declaration
	for _, some := range [][]annotations.Declaration{
		kindKeys(), accessKeys(), tlsKeys(), healthKeys(), settingKeys(), laterKeys(), objectKeys(),
	} {
		all = append(all, some...)
	}
	set, err := annotations.NewSet("aws", []string{lbPrefix}, all...)
	if err != nil {
		return nil, err
	}
	return set.WithChecks(checks()...), nil
}

// Annotations is the set of all keys that the official controllers read. Should
// the declarations be at fault, the set refuses every Service and says why.
func Annotations() *annotations.Set {
	set, err := declared()
	if err == nil {
		return set
	}
	// A set without declarations has nothing to be at fault.
	broken, _ := annotations.NewSet("aws", nil)
	return broken.WithChecks(func(string, *annotations.Bag, []corev1.ServicePort) annotations.Problems {
		return annotations.Problems{{Key: "aws annotations", Message: err.Error()}}
	})
}

func onCLB() []string { return []string{CLB} }
func onNLB() []string { return []string{NLB} }
