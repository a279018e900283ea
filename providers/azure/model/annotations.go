package model

import (
	"github.com/berth-lb/berth/annotations"
)

// Prefixes of keys, and where the official controller reads them.
const (
	keyPrefix   = "service.beta.kubernetes.io/"
	azurePrefix = keyPrefix + "azure-"
	portPrefix  = keyPrefix + "port_"

	cpaBalancer = "kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go"
	cpaProbe    = "kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer_healthprobe.go"
	cpaLink     = "kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_privatelinkservice.go"
	cpaUtils    = "kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_utils.go"
	cpaAccess   = "kubernetes-sigs/cloud-provider-azure:pkg/provider/loadbalancer/configuration.go"
	cpaHelpers  = "kubernetes-sigs/cloud-provider-azure:pkg/consts/helpers.go"
	cpaNodes    = "kubernetes-sigs/cloud-provider-azure:pkg/provider/azure.go"
	cpaStandard = "kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_standard.go"
	cpaLocal    = "kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_local_services.go"
	cpaDocs     = "kubernetes-sigs/cloud-provider-azure:content/en/topics/loadbalancer.md"
)

// Headings of the reference page.
const (
	groupPlace   = "Public or internal, and where"
	groupAddress = "Addresses"
	groupAccess  = "Client access"
	groupRules   = "Rules"
	groupHealth  = "Health probes"
	groupLink    = "Private link service"
	groupObjects = "On other objects"
)

// declareAnnotations collects all declarations. An error is a mistake in a declaration,
// which the tests rule out.
func declareAnnotations() (*annotations.Set, error) {
	return annotations.Collect("azure", []string{azurePrefix, portPrefix}, annotationChecks(),
		placeKeys(), addressKeys(), accessKeys(), ruleKeys(), healthKeys(), linkKeys(), objectKeys())
}

// Annotations is the set of all keys that the official controller reads.
func Annotations() *annotations.Set {
	set, _ := declareAnnotations() // a set at fault says so on every Service
	return set
}

func onPublic() []string   { return []string{Public} }
func onInternal() []string { return []string{Internal} }

// boolType reads every boolean in one way: "true" in any case is true, blanks around
// it do not count. The official controller has three readers that disagree, so
// that "True" makes a public load balancer with a closed security group there.
func boolType() annotations.Type[bool] {
	return annotations.BoolWords([]string{"true"}, []string{"false", ""}, true).Trimmed().Legally(`"true" or "false", in any case`)
}

// boolForm declares a boolean that is false by default; other texts are false too, with
// a warning.
func boolForm(source string, kinds ...string) annotations.Form[bool] {
	return annotations.Form[bool]{Kinds: kinds, Type: boolType(), Bad: annotations.AsAbsent, Source: source}
}

// nameForm declares the name of a resource: surrounding blanks are ignored, and an
// empty text counts as absent.
func nameForm(defaults, source string, kinds ...string) []annotations.Form[string] {
	return []annotations.Form[string]{{
		Kinds: kinds, Type: annotations.String().Trimmed(), Empty: annotations.EmptyAbsent, DefaultDoc: defaults, Source: source,
	}}
}
