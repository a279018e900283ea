package model

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// The greatest lengths of names, in bytes.
// Source: oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/load_balancer_util.go.
const (
	longestName  = 1024
	longestGroup = 255
)

func truncateText(text string, most int) string { return text[:min(len(text), most)] }

// BalancerName is the display name of a Service's load balancer of a product. The
// prefix is that of the environment, for lb only.
func BalancerName(p Product, prefix string, o stack.Owner) string {
	if p.Name == NLB {
		return truncateText(fmt.Sprintf("%s/%s/%s", o.Namespace, o.Name, o.UID), longestName)
	}
	if prefix != "" && !strings.HasSuffix(prefix, "-") {
		prefix += "-"
	}
	return truncateText(prefix+o.UID, longestName)
}

// OwnerOf returns the Service that the name of a load balancer of a product tells: that
// of lb tells its UID alone, and the owner is called like the load balancer. False: the
// name is no Service's.
func OwnerOf(p Product, prefix, name string) (stack.Owner, bool) {
	if p.Name == LB {
		if prefix != "" {
			prefix = strings.TrimSuffix(prefix, "-") + "-"
		}
		uid, ok := strings.CutPrefix(name, prefix)
		return stack.Owner{Name: name, UID: uid}, ok && isUID(uid)
	}
	parts := strings.Split(name, "/")
	const whole = 3
	if len(parts) != whole || parts[0] == "" || parts[1] == "" || !isUID(parts[2]) {
		return stack.Owner{}, false
	}
	return stack.Owner{Namespace: parts[0], Name: parts[1], UID: parts[2]}, true
}

// isUID reports whether a text is a UID of Kubernetes: hexadecimal numbers with hyphens.
func isUID(text string) bool {
	return len(text) == uidLength && strings.Count(text, "-") == uidHyphens && strings.Trim(text, "0123456789abcdefABCDEF-") == ""
}

// The form of a UID of Kubernetes. Source: RFC 9562, section 4.
const (
	uidLength  = 36
	uidHyphens = 4
)

// GroupName is the display name of a Service's own network security group.
func GroupName(o stack.Owner) string {
	return truncateText(fmt.Sprintf("%s/%s/%s/nsg", o.Namespace, o.Name, o.UID), longestGroup)
}

// Marks by which a Service's group and rules are known again.
// Source: oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/load_balancer_network_security_group.go.
const (
	tagMaker   = "CreatedBy"
	tagMakerIs = "CCM"
	tagService = "ServiceUid"
)

// GroupTags are the free-form tags of a Service's own group.
func GroupTags(o stack.Owner) map[string]string {
	return map[string]string{tagMaker: tagMakerIs, tagService: o.UID}
}

// IsGroupOf reports whether a group with these tags belongs to the Service.
func IsGroupOf(tags map[string]string, uid string) bool {
	return uid != "" && tags[tagMaker] == tagMakerIs && tags[tagService] == uid
}

// RuleMark is the description of a Service's rules in groups.
func RuleMark(o stack.Owner) string { return "service-uid-" + o.UID }

// setName is the name of the backend set of a port.
func setName(protocol string, port int32, six bool) string {
	name := fmt.Sprintf("%s-%d", protocol, port)
	if six {
		name += sixSuffix
	}
	return name
}

// sixSuffix ends the names of what is for IPv6 beside IPv4.
const sixSuffix = "-IPv6"

// PortKey is the name, in keys, of the listener on a port: no two have the same port
// and family.
func PortKey(port int32, six bool) string {
	if six {
		return fmt.Sprintf("%d%s", port, sixSuffix)
	}
	return fmt.Sprint(port)
}
