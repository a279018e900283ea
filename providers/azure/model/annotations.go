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
	groupAccess  = "Who may connect"
	groupRules   = "Rules"
	groupHealth  = "Health probes"
	groupLink    = "Private link service"
	groupObjects = "On other objects"
)

// declared puts all declarations together. An error is a fault of theirs, which
// the tests rule out.
func declared() (*annotations.Set, error) {
	return annotations.Collect("azure", []string{azurePrefix, portPrefix}, checks(),
		placeKeys(), addressKeys(), accessKeys(), ruleKeys(), healthKeys(), linkKeys(), objectKeys())
}

// Annotations is the set of all keys that the official controller reads.
func Annotations() *annotations.Set {
	set, _ := declared() // a set at fault says so on every Service
	return set
}

func onPublic() []string   { return []string{Public} }
func onInternal() []string { return []string{Internal} }

// truth reads every boolean in one way: "true" in any case is true, blanks around
// it do not count. The official controller has three readers that disagree, so
// that "True" makes a public load balancer with a closed security group there.
func truth() annotations.Type[bool] {
	return annotations.BoolWords([]string{"true"}, []string{"false", ""}, true).Trimmed().Legally(`"true" or "false", in any case`)
}

// flag is a boolean that is false by default; other texts are false too, with a
// warning.
func flag(source string, kinds ...string) []annotations.Form[bool] {
	return []annotations.Form[bool]{{Kinds: kinds, Type: truth(), Bad: annotations.AsAbsent, Source: source}}
}

// words is a text of a resource's name: blanks around it do not count, and an
// empty one is none.
func words(defaults, source string, kinds ...string) []annotations.Form[string] {
	return []annotations.Form[string]{{
		Kinds: kinds, Type: annotations.String().Trimmed(), Empty: annotations.EmptyAbsent, DefaultDoc: defaults, Source: source,
	}}
}
