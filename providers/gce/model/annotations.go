package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Where the official controllers read keys.
const (
	ccmAnnotations = "kubernetes/cloud-provider-gcp:providers/gce/gce_annotations.go"
	gceAnnotations = "kubernetes/ingress-gce:pkg/l4/annotations/service.go"
	gceNetLB       = "kubernetes/ingress-gce:pkg/l4/resources/l4netlb.go"
	gceZones       = "kubernetes/ingress-gce:pkg/utils/zonegetter/zone_getter.go"
)

// Headings of the reference page.
const (
	groupKind     = "Kind"
	groupInternal = "Internal load balancers"
	groupAddress  = "Addresses and clients"
	groupBackend  = "Backend service"
	groupOutput   = "Written by the controller"
	groupNEG      = "Network endpoint groups of others"
	groupObjects  = "On other objects"
)

// declareAnnotations collects all declarations. An error is a mistake in a declaration,
// which the tests rule out.
func declareAnnotations() (*annotations.Set, error) {
	prefixes := []string{
		"networking.gke.io/load-balancer", "networking.gke.io/internal-load-balancer", "networking.gke.io/l4",
		"cloud.google.com/load-balancer", "cloud.google.com/l4", "cloud.google.com/network-tier", "alpha.cloud.google.com/load-balancer",
	}
	return annotations.Collect("gce", prefixes, annotationChecks(),
		kindKeys(), addressKeys(), backendKeys(), outputKeys(), otherKeys(), objectKeys())
}

// Annotations is the set of all keys that the official controllers read.
func Annotations() *annotations.Set {
	set, _ := declareAnnotations() // a set at fault says so on every Service
	return set
}

func onInternal() []string { return []string{InternalIG, InternalNEG} }
func onExternal() []string { return []string{NetLB, TargetPool} }
func onNewer() []string    { return []string{InternalNEG, NetLB} }

// wordFlag declares a flag of one word; other texts mean no, and every text other than
// a plain no causes a warning.
func wordFlag(word string) annotations.Type[bool] {
	return annotations.BoolWords([]string{word}, []string{"", "false"}, false).
		Legally(`"` + word + `", or leave the key out`)
}

// Keys that choose the kind of load balancer.
var (
	typeKey = &annotations.Key[bool]{
		Name: "networking.gke.io/load-balancer-type", Group: groupKind, Example: "Internal", Exposes: annotations.ToInternet,
		Doc:   "Gives the load balancer an internal address.",
		Forms: []annotations.Form[bool]{typeForm("A load balancer class says it already. A change gives a new address.")},
	}
	oldTypeKey = &annotations.Key[bool]{
		Name: "cloud.google.com/load-balancer-type", Group: groupKind, Example: "Internal", Exposes: annotations.ToInternet,
		Doc:   "Deprecated name of the key with the prefix networking.gke.io.",
		Forms: []annotations.Form[bool]{typeForm("Ignored if the newer key is set, regardless of its value.")},
	}
	rbsKey = &annotations.Key[bool]{
		Name: "cloud.google.com/l4-rbs", Group: groupKind, Example: "enabled",
		Doc: "Gives a new external Service a regional backend service instead of a target pool.",
		Forms: []annotations.Form[bool]{{
			Type: wordFlag("enabled"), DefaultDoc: "a target pool, unless the configuration says otherwise",
			Change: annotations.IgnoredAfterCreation, Bad: annotations.UseFallback,
			Needs:  []annotations.Need{{annotations.FieldUnset(annotations.FieldClass)}, {annotations.KindIs(onExternal()...)}},
			Doc:    "A load balancer that has a target pool keeps it.",
			Source: gceAnnotations,
		}},
	}
)

func typeForm(doc string) annotations.Form[bool] {
	return annotations.Form[bool]{
		Type:       annotations.BoolWords([]string{"Internal", "internal"}, []string{"External", "external", ""}, false),
		DefaultDoc: "external", Change: annotations.Replaced, Bad: annotations.UseFallback, Doc: doc, Source: ccmAnnotations,
		Needs: []annotations.Need{{annotations.FieldUnset(annotations.FieldClass)}},
	}
}

// typeKeyOf is the key by which the annotations set the type: the older one only where
// the newer is not set at all.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_annotations.go (GetLoadBalancerAnnotationType).
func typeKeyOf(said map[string]string) *annotations.Key[bool] {
	_, newer := said[typeKey.Name]
	if _, older := said[oldTypeKey.Name]; older && !newer {
		return oldTypeKey
	}
	return typeKey
}

func kindKeys() []annotations.Declaration {
	return []annotations.Declaration{typeKey, oldTypeKey, rbsKey}
}

// Keys of internal load balancers, addresses and clients.
var (
	globalKey = annotations.Flag("networking.gke.io/internal-load-balancer-allow-global-access", groupInternal, "Lets clients of all regions of the network in.", annotations.Form[bool]{
		Kinds: onInternal(), Type: wordFlag("true"), Bad: annotations.UseFallback, Source: ccmAnnotations,
		Doc: "Changed in place on every kind; networks without subnets do not have it.",
	})
	internalSubnetKey = &annotations.Key[string]{
		Name: "networking.gke.io/internal-load-balancer-subnet", Names: annotations.NamesThe(annotations.ThingSubnet), Group: groupInternal, Example: "ilb-subnet",
		Doc: "Name of the subnet that the address is from.",
		Forms: []annotations.Form[string]{{
			Kinds: onInternal(), Type: annotations.String().Legally("the name of a subnet of the region"),
			DefaultDoc: "the cluster's", Change: annotations.Replaced, Empty: annotations.EmptyAbsent, Source: ccmAnnotations,
			Doc: "A change gives a new address.",
		}},
	}
	subnetKeyV2 = &annotations.Key[string]{
		Name: "networking.gke.io/load-balancer-subnet", Names: annotations.NamesThe(annotations.ThingSubnet), Group: groupAddress, Example: "dual-stack-subnet",
		Doc: "Name of the subnet that the addresses are from.",
		Forms: []annotations.Form[string]{
			{Kinds: []string{InternalNEG}, Type: annotations.String().Legally("the name of a subnet of the region"),
				DefaultDoc: "the cluster's", Change: annotations.Replaced, Source: gceAnnotations,
				Doc: "If the key is set, the one for internal load balancers is ignored."},
			{Kinds: []string{NetLB}, Type: annotations.String().Legally("the name of a subnet of the region"),
				DefaultDoc: "the cluster's", Change: annotations.Replaced, Source: gceAnnotations,
				Needs: []annotations.Need{{annotations.FieldIs(annotations.FieldFamilies, "IPv6")}}},
		},
	}
	tierKey = &annotations.Key[string]{
		Name: "cloud.google.com/network-tier", Group: groupAddress, Example: "Standard",
		Doc: "Network tier of the external address.",
		Forms: []annotations.Form[string]{{
			Kinds: onExternal(), Type: annotations.Enum("Premium", "Standard"), Default: "Premium", DefaultDoc: "as it is; Premium for new ones", Removal: annotations.Stays,
			Change: annotations.Replaced, Source: ccmAnnotations,
			Doc: "A change gives a new address. A live load balancer keeps its tier when the key is taken away.",
		}},
	}
	addressesKey = &annotations.Key[[]string]{
		Name: "networking.gke.io/load-balancer-ip-addresses", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupAddress, Example: "web-ip,web-ip-v6",
		Doc: "Names of reserved addresses of the region, at most one for each IP family.",
		Forms: []annotations.Form[[]string]{{
			Kinds: onNewer(), Type: annotations.ListOf(annotations.NonEmpty().Legally("the name of an address")),
			DefaultDoc: "any address", Change: annotations.Replaced, Source: "kubernetes/ingress-gce:pkg/l4/annotations/l4_static_address.go",
			Doc: "Only the first two names are read; a name that does not exist is ignored. Prevails over spec.loadBalancerIP.",
		}},
	}
	collectionKey = &annotations.Key[string]{
		Name: "networking.gke.io/ip-collection-v6", Names: annotations.NamesThe(annotations.ThingAddressPrefix), Group: groupAddress, Example: "projects/p/regions/r/publicDelegatedPrefixes/d",
		Doc: "Public delegated prefix that the external IPv6 address is from.",
		Forms: []annotations.Form[string]{{
			Kinds: []string{NetLB}, Type: annotations.String().Legally("the URL of a prefix"), Change: annotations.Replaced,
			Empty: annotations.EmptyAbsent, Source: gceAnnotations,
		}},
	}
	rangesKey = annotations.Limiting(&annotations.Key[string]{
		Name: corev1.AnnotationLoadBalancerSourceRangesKey, Names: annotations.NamesNothing(), Group: groupAddress, Example: "203.0.113.0/24,2001:db8::/32",
		Doc: "Ranges of clients that may connect.",
		Forms: []annotations.Form[string]{{
			Type: annotations.String().Legally("a comma separated list of ranges"), DefaultDoc: "all addresses", Empty: annotations.EmptyAbsent,
			Doc:    "spec.loadBalancerSourceRanges wins. An IP family of which no range is named is closed.",
			Source: "kubernetes/cloud-provider:service/helpers/helper.go",
		}},
	}, "0.0.0.0/0", "::/0")
)

func addressKeys() []annotations.Declaration {
	return []annotations.Declaration{globalKey, internalSubnetKey, subnetKeyV2, tierKey, addressesKey, collectionKey, rangesKey}
}

// Keys of the backend service.
var (
	shareKey = &annotations.Key[bool]{
		Name: "alpha.cloud.google.com/load-balancer-backend-share", Group: groupBackend, Example: "true",
		Doc:   "Shares one backend service between internal Services of the cluster.",
		Forms: []annotations.Form[bool]{shareForm("Only with externalTrafficPolicy Cluster.")},
	}
	oldShareKey = &annotations.Key[bool]{
		Name: "cloud.google.com/load-balancer-backend-share", Group: groupBackend, Example: "true",
		Doc:   "Older name of the key with the prefix alpha; either of them is enough.",
		Forms: []annotations.Form[bool]{shareForm("")},
	}
	strongKey = &annotations.Key[bool]{
		Name: "networking.gke.io/l4-strong-session-affinity", Group: groupBackend, Example: "enabled",
		Doc: "Keeps clients on their backend also while other backends come and go.",
		Forms: []annotations.Form[bool]{{
			Kinds: []string{NetLB}, Type: wordFlag("enabled"), Bad: annotations.UseFallback, Source: gceNetLB,
			Doc: "Needs spec.sessionAffinity ClientIP with a timeout from 60 to 57600 seconds, and a project that Google has allowed to use it.",
		}},
	}
	weightedKey = &annotations.Key[bool]{
		Name: "networking.gke.io/weighted-load-balancing", Group: groupBackend, Example: "pods-per-node",
		Doc: "Gives nodes connections by the number of their pods.",
		Forms: []annotations.Form[bool]{{
			Kinds: onNewer(), Type: wordFlag("pods-per-node"), Bad: annotations.UseFallback, Source: gceNetLB,
			Doc: "Needs externalTrafficPolicy Local. Internal load balancers need a project that Google has allowed to use it.",
		}},
	}
	logRateKey = &annotations.Key[float64]{
		Name: "berth-lb.io/gce-log-sample-rate", Names: annotations.NamesNothing(), Group: groupBackend, Example: "0.5",
		Doc: "Share of the connections that the backend service logs, 0 for none.",
		Forms: []annotations.Form[float64]{{
			Kinds: onNewer(), Type: rateForm(), DefaultDoc: "logging stays as it is", Removal: annotations.Stays, Source: "docs/providers/gce.md",
		}},
	}
	configKey = &annotations.Key[string]{
		Name: "networking.gke.io/l4lb-config", Names: annotations.NamesNothing(), Group: groupBackend, Example: "web-logging",
		Doc: "Name of an L4LBConfig object with settings for logging.",
		Forms: []annotations.Form[string]{{
			Kinds: onNewer(), Type: annotations.String(), Support: annotations.Accepted, Empty: annotations.EmptyAbsent,
			Reason: "L4LBConfig objects are not read; logging stays as it is, and berth-lb.io/gce-log-sample-rate sets the sample rate",
			Source: "kubernetes/ingress-gce:pkg/l4lbconfig/l4lbconfig.go",
		}},
	}
)

func shareForm(doc string) annotations.Form[bool] {
	return annotations.Form[bool]{
		Kinds: []string{InternalIG}, Type: wordFlag("true"), Change: annotations.Brief, Bad: annotations.UseFallback, Doc: doc, Source: ccmAnnotations,
	}
}

func backendKeys() []annotations.Declaration {
	return []annotations.Declaration{shareKey, oldShareKey, strongKey, weightedKey, logRateKey, configKey}
}
