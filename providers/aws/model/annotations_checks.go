package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// annotationChecks returns checks of several keys together; they report what the
// official controller does not.
func annotationChecks() []annotations.Check {
	return []annotations.Check{
		checkType, checkGroup, checkInternal, checkScheme, checkTags, checkPortsMatch, checkTLSKeys, checkBackendText, checkTimes, checkTargetAttributes, checkLogs, checkProxyPorts,
	}
}

// warnAbout makes a warning about a key as the user wrote it.
func warnAbout(from annotations.Origin, message, legal string) annotations.Problems {
	return annotations.Problems{{Key: from.Key, Value: from.Raw, Message: message, Legal: legal, Severity: annotations.Warning}}
}

// notApplied reports a value that the live load balancer does not have and does not get.
func notApplied(from annotations.Origin, message, legal string) annotations.Problems {
	return annotations.NotApplied(annotations.ProblemOf(from.Key, from.Raw, message, legal, annotations.Warning))
}

func refuseValue(from annotations.Origin, message, legal string) annotations.Problems {
	return annotations.Problems{{Key: from.Key, Value: from.Raw, Message: message, Legal: legal}}
}

// checkType: a misspelt kind silently makes a Classic Load Balancer.
func checkType(kind string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	value, from, ok := typeKey.Lookup(bag)
	if kind == LBC && ok && !slices.Contains([]string{"", typeNLB, typeNLBIP, typeExternal}, value) {
		return warnAbout(from, "has no effect beside the load balancer class, which asks for kind "+LBC, "no value")
	}
	if kind == LBC || !ok || value == "" || value == typeNLB || value == CLB || value == "classic" || value == "elb" {
		return nil
	}
	return warnAbout(from, "is not a kind that is known here, so it means a Classic Load Balancer", `"nlb"; for a Classic Load Balancer leave the key out`)
}

// checkInternal: words that say no, and mean yes.
func checkInternal(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	on, from, ok := internalKey.Lookup(bag)
	if !ok || !on {
		return nil
	}
	word := strings.ToLower(strings.TrimSpace(from.Raw))
	said, err := strconv.ParseBool(word)
	no := err == nil && !said || slices.Contains([]string{"no", "off", "n", "none", ""}, word)
	if !no {
		return nil
	}
	return warnAbout(from, "means internal, as any text but the exact \"false\" does", `"true" or "false"`)
}

// checkPortsMatch: entries that fit no port have no effect.
func checkPortsMatch(_ string, bag *annotations.Bag, ports []corev1.ServicePort) annotations.Problems {
	set, from, ok := sslPortsKey.Lookup(bag)
	if !ok || set.All {
		return nil
	}
	var unmatched []string
	for _, number := range set.Numbers {
		if !slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Port == number }) {
			unmatched = append(unmatched, Decimal(number))
		}
	}
	for _, name := range set.Names {
		if !slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Name != "" && p.Name == name }) {
			unmatched = append(unmatched, strconv.Quote(name))
		}
	}
	if len(unmatched) == 0 {
		return nil
	}
	return warnAbout(from, "names "+strings.Join(unmatched, ", ")+", which fits no port of the Service and has no effect; blanks count", "port numbers and names of the Service, without blanks")
}

// checkTLSKeys: without a certificate there is no TLS to adjust.
func checkTLSKeys(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	_, _, several := certsKey.Lookup(bag)
	if _, _, ok := certKey.Lookup(bag); ok || several || bag.Refused(certKey, certsKey) {
		return nil
	}
	var out annotations.Problems
	if _, from, ok := sslPortsKey.Lookup(bag); ok {
		out = append(out, warnAbout(from, "has no effect without "+certKey.Name, "")...)
	}
	if _, from, ok := tlsPortsKey.Lookup(bag); ok {
		out = append(out, warnAbout(from, "has no effect without "+certKey.Name, "")...)
	}
	if _, from, ok := alpnKey.Lookup(bag); ok {
		out = append(out, warnAbout(from, "has no effect without "+certKey.Name, "")...)
	}
	if _, from, ok := sslPolicyKey.Lookup(bag); ok {
		out = append(out, warnAbout(from, "has no effect without "+certKey.Name, "")...)
	}
	return out
}

// checkBackendText: the value is judged per port; here only what has no effect anywhere.
func checkBackendText(kind string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	value, from, ok := backendKey.Lookup(bag)
	if !ok || value == "" || value == "tcp" {
		return nil
	}
	_, _, tls := certKey.Lookup(bag)
	_, _, several := certsKey.Lookup(bag)
	switch {
	case kind == LBC && (value != "ssl" || !several):
		return warnAbout(from, "has no effect but as \"ssl\" and with "+certKey.Name, `"ssl" or "tcp"`)
	case kind == NLB && value != "ssl":
		return warnAbout(from, "has no effect on a Network Load Balancer, which sends plain TCP to the nodes", `"ssl" or "tcp"`)
	case kind == NLB && !tls, kind == CLB && !tls && value != "http":
		return warnAbout(from, "has no effect without "+certKey.Name, "")
	}
	return nil
}

// checkTimes: AWS refuses a check that may take longer than its interval.
func checkTimes(kind string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	if kind != CLB || bag.Refused(checkTimeoutKey, checkIntervalKey) {
		return nil
	}
	timeout, from, saidTimeout := checkTimeoutKey.Lookup(bag)
	interval, other, saidInterval := checkIntervalKey.Lookup(bag)
	if timeout < interval || !saidTimeout && !saidInterval {
		return nil
	}
	if !saidTimeout {
		return refuseValue(other, fmt.Sprintf("is not longer than the timeout of %d seconds", timeout), "a number above the timeout")
	}
	return refuseValue(from, fmt.Sprintf("is not shorter than the interval of %d seconds", interval), "a number below the interval")
}

// checkTargetAttributes: UDP targets always see the client's address.
func checkTargetAttributes(kind string, bag *annotations.Bag, ports []corev1.ServicePort) annotations.Problems {
	values, from, ok := targetAttrKey.Lookup(bag)
	if kind != NLB || !ok || values[attrPreserveIP] != "false" {
		return nil
	}
	udp := slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Protocol == corev1.ProtocolUDP })
	if !udp {
		return nil
	}
	return refuseValue(from, "switches off "+attrPreserveIP+", which UDP ports cannot do without", attrPreserveIP+"=true")
}

// checkLogs: logs without a bucket are refused by AWS.
func checkLogs(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	on, from, _ := logsKey.Lookup(bag)
	if _, _, bucket := logsBucketKey.Lookup(bag); on && !bucket {
		return warnAbout(from, "needs "+logsBucketKey.Name+", unless the load balancer has a bucket already", "")
	}
	return nil
}
