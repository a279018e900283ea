package model

import (
	"errors"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Where the keys are documented.
const (
	open       = "baidu/cloud-provider-baiducloud:pkg/cloud-provider/"
	sourceOpen = open + "options.go"
	sourceBLB  = open + "load_balancer_blb.go"
	sourceEIP  = open + "load_balancer_eip.go"
	sourceDoc  = "https://cloud.baidu.com/doc/CCE/s/zlako7b04"
)

// Headings of the reference page.
const (
	groupPlace    = "Kind and place"
	groupListener = "Listeners and health checks"
	groupAddress  = "Public address"
	groupBackends = "Backends"
	groupGuard    = "Security"
	groupOutput   = "Written by controllers"
	groupObjects  = "On other objects"
)

// Prefixes of keys.
const (
	kube = "service.beta.kubernetes.io/"
	lb   = kube + "cce-load-balancer-"
	eip  = kube + "cce-elastic-ip-"
	node = "node.alpha.kubernetes.io/"
	own  = "berth-lb.io/baidu-"
)

// Annotations is the set of all keys that the official controllers read or write.
func Annotations() *annotations.Set {
	set, _ := collectKeys() // a set at fault reports it on every Service
	return set
}

func collectKeys() (*annotations.Set, error) {
	return annotations.Collect("baidu", []string{kube + "cce-", own}, []annotations.Check{checkPayment},
		placeKeys(), listenerKeys(), addressKeys(), backendKeys(), outputKeys(), objectKeys())
}

// Keys of the kind and the place.
var (
	idKey       = onDelete(annotations.Identifier(lb+"id", groupPlace, annotations.ThingLoadBalancer, "lb-", "Uses an existing load balancer, which stays when the Service is deleted. Services of the cluster can share an application load balancer.", "lb-2c3c5a4f", annotations.Refused, "a load balancer of the Service's own", sourceDoc))
	existKey    = onDelete(annotations.Identifier(lb+"exist-id", groupPlace, annotations.ThingLoadBalancer, "lb-", "The same for the open controllers. It has no effect beside "+lb+"id.", "lb-2c3c5a4f", annotations.Refused, "a load balancer of the Service's own", sourceBLB))
	internalKey = annotations.Exposing(annotations.Flag(lb+"internal-vpc", groupPlace, "Whether the load balancer has no public address, and is reached in the VPC alone.", annotations.Plain(annotations.Bool(), annotations.Refused, "false", sourceDoc)), annotations.ToInternet)
	typeKey     = &annotations.Key[string]{
		Name: kube + "cce-blb-type", Group: groupPlace, Names: annotations.NamesNothing(), Example: AppBLB, Doc: "Kind of the load balancer. Normal ones (" + BLB + ") are not created: the Service needs an existing one.",
		Forms: annotations.PlainForms(annotations.Enum(AppBLB, BLB), annotations.IgnoredAfterCreation, AppBLB+" for a new one, either for an existing one", "a published manifest of a cluster of CCE"),
	}
	subnetKey = annotations.Identifier(lb+"subnet-id", groupPlace, annotations.ThingSubnet, "sbn-", "Subnet of a new load balancer.", "sbn-b9td1es7bkz4", annotations.Refused, "SubnetId of the cloud configuration", open+"load_balancer_vpc.go")
	nameKey   = onDelete(&annotations.Key[string]{
		Name: lb + "lb-name", Group: groupPlace, Names: annotations.NamesThe(annotations.ThingLoadBalancer), Example: "shop-web",
		Doc:   "Name of a new load balancer, and of an existing normal one that the Service uses.",
		Forms: annotations.PlainForms(annotations.Custom("name", "1 to 65 letters, digits and -_/. that begin with a letter", parseName), annotations.IgnoredAfterCreation, "CCE/SVC/<cluster id>/<namespace>/<name>", open+"load_balancer_util.go"),
	})
	reserveKey = onDelete(&annotations.Key[bool]{
		Name: lb + "reserve-lb", Group: groupPlace, Example: "true", Doc: "Whether the load balancer, with its listeners and groups, stays when the Service is deleted. Its public address is deleted.",
		Forms: reserveForms(),
	})
)

// reserveForms keeps the load balancer of a Service whose value is not legal.
func reserveForms() []annotations.Form[bool] {
	forms := annotations.PlainForms(annotations.Bool(), annotations.InPlace, "false", open+"load_balancer.go")
	forms[0].Fallback = true
	return forms
}

func placeKeys() []annotations.Declaration {
	return []annotations.Declaration{
		idKey, existKey, internalKey, typeKey, subnetKey, nameKey, reserveKey,
		annotations.Ineffective(lb+"allocate-vip", groupPlace, "Requests an address that is internal to the provider.", "true", "the public API has no such parameter", sourceBLB),
	}
}

func onDelete[T any](k *annotations.Key[T]) *annotations.Key[T] {
	k.OnDelete = true
	return k
}

// nameForm is the form of names. Source: https://cloud.baidu.com/doc/BLB/s/njwvxnv79.
var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/.-]{0,64}$`)

func parseName(raw string) (string, error) {
	if !nameForm.MatchString(raw) {
		return "", errors.New("is not a name")
	}
	return raw, nil
}

// Values of the keys of payment.
const (
	prepaid     = "Prepaid"
	postpaid    = "Postpaid"
	byTraffic   = "ByTraffic"
	byBandwidth = "ByBandwidth"
)

// Greatest bandwidths in Mbit/s. Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/load_balancer_eip.go.
const (
	mostByTraffic = 1000
	mostOtherwise = 200
)

// Keys of the public address.
var (
	addressNameKey = onInternet(&annotations.Key[string]{
		Name: eip + "name", Group: groupAddress, Names: annotations.NamesNothing(), Example: "shop-web", Doc: "Name of a new public address.",
		Forms: annotations.PlainForms(annotations.Custom("name", "1 to 65 letters, digits and -_/. that begin with a letter", parseName), annotations.IgnoredAfterCreation, "the name of the load balancer", sourceEIP),
	})
	paymentKey   = onInternet(annotations.Text(eip+"payment-timing", groupAddress, "Whether a new public address is paid before or after use. A prepaid one stays when the Service is deleted.", postpaid, annotations.Plain(annotations.Enum(prepaid, postpaid), annotations.Refused, postpaid, sourceEIP)))
	billingKey   = onInternet(annotations.Text(eip+"billing-method", groupAddress, "What a new public address is paid by, if it is paid after use.", byTraffic, annotations.Plain(annotations.Enum(byTraffic, byBandwidth), annotations.Refused, byTraffic, sourceEIP)))
	bandwidthKey = onInternet(annotations.Number(eip+"bandwidth-in-mbps", groupAddress, "Bandwidth of the public address, in Mbit/s. More than 200 needs payment by traffic. 0 is the default.", "100", annotations.Plain(annotations.IntRange(0, mostByTraffic), annotations.InPlace, "1000 by traffic, 200 otherwise; a live address keeps its own", sourceEIP)))
	monthsKey    = annotations.Needing(onInternet(annotations.Number(eip+"reservation-length", groupAddress, "Months for which a new prepaid public address is paid.", "1", annotations.Plain(annotations.IntOneOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 24, 36), annotations.IgnoredAfterCreation, "none", sourceEIP))), annotations.Need{paymentKey.Is(prepaid)})
)

func addressKeys() []annotations.Declaration {
	return []annotations.Declaration{addressNameKey, paymentKey, billingKey, bandwidthKey, monthsKey}
}

func onInternet[T any](k *annotations.Key[T]) *annotations.Key[T] {
	return annotations.Needing(k, annotations.Need{annotations.Neither("a public address of the Service's own", internalKey.Is(true), idKey.IsSet(), existKey.IsSet(), annotations.FieldSet("spec.loadBalancerIP"))})
}

// checkPayment judges how a public address is to be paid.
func checkPayment(_ string, b *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	_, _, billed := billingKey.Lookup(b)
	_, _, reserved := monthsKey.Lookup(b)
	before := paymentKey.Get(b) == prepaid
	switch {
	case before && billed:
		return annotations.Problems{billingKey.Refusal(b, "has no meaning for an address that is paid before use", paymentKey.Name+": "+postpaid)}
	case before && !reserved && !b.Refused(monthsKey):
		return annotations.Problems{paymentKey.Refusal(b, "needs the number of months", monthsKey.Name+" beside it")}
	case bandwidthKey.Get(b) > mostOtherwise && (before || billingKey.Get(b) == byBandwidth):
		return annotations.Problems{bandwidthKey.Refusal(b, "is more than an address has that is not paid by traffic", fmt.Sprintf("1 to %d", mostOtherwise))}
	}
	return nil
}

// IDKeyName returns the key that names an existing load balancer.
func IDKeyName() string { return idKey.Name }
