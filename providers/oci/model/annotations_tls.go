package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// SSLConfig is the value of the keys for ciphers and protocols.
type SSLConfig struct {
	CipherSuiteName string
	Protocols       []string
}

// Keys of TLS.
var (
	tlsPortsKey = &annotations.Key[annotations.Ports]{
		Name: oldPrefix + "ssl-ports", Group: groupTLS, Example: "443",
		Doc: "Ports whose listeners end TLS, and whose backend sets speak it to the nodes where a Secret says so.",
		Forms: []annotations.Form[annotations.Ports]{{
			Kinds: kindList(LB), Type: annotations.PortList(annotations.PortOptions{}), DefaultDoc: "none", Source: "oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/load_balancer_util.go",
		}},
	}
	tlsSecretKey = textKey(annotations.NamesThe(annotations.ThingCertificate), oldPrefix+"tls-secret", LB, groupTLS, "Secret with the certificate of the listeners: tls.crt, tls.key, and, where there are any, ca.crt and passphrase.",
		"[namespace/]name of a Secret", "web-tls", "none", annotations.InPlace)
	backendSecretKey = annotations.Needing(textKey(annotations.NamesThe(annotations.ThingCertificate), oldPrefix+"tls-backendset-secret", LB, groupTLS, "Secret with the certificate with which backends are spoken to; health checks stay plain.",
		"[namespace/]name of a Secret", "nodes-tls", "none: plain backends", annotations.InPlace), annotations.Need{tlsPortsKey.IsSet()})
	certificateMapKey = certificateMap()
	listenerSSLKey    = sslConfig(prefix+"oci-load-balancer-listener-ssl-config", "Cipher suite and protocols of listeners that end TLS.",
		annotations.Need{tlsPortsKey.IsSet()}, annotations.Need{tlsSecretKey.IsSet(), certificateMapKey.IsSet()})
	backendSSLKey = sslConfig(prefix+"oci-load-balancer-backendset-ssl-config", "Cipher suite and protocols of TLS to the nodes.",
		annotations.Need{tlsPortsKey.IsSet()}, annotations.Need{backendSecretKey.IsSet()})
)

func certificateMap() *annotations.Key[string] {
	k := textKey(annotations.NamesThe(annotations.ThingConfigMap), mapPrefix+"tls-certificate-map", LB, groupTLS, "ConfigMap of the Service's namespace that gives listeners certificates of the Certificates service: under each port, a JSON array with the OCID of one.",
		"name of a ConfigMap", "web-certificates", "none", annotations.InPlace)
	k.Forms[0].Source = "https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengcreatingloadbalancers-subtopic.htm"
	return k
}

func sslConfig(name, doc string, needs ...annotations.Need) *annotations.Key[SSLConfig] {
	return &annotations.Key[SSLConfig]{
		Name: name, Names: annotations.NamesNothing(), Group: groupTLS, Example: `{"CipherSuiteName": "oci-default-ssl-cipher-suite-v1", "Protocols": ["TLSv1.2"]}`, Doc: doc,
		Forms: []annotations.Form[SSLConfig]{{
			Kinds: kindList(LB), Type: annotations.JSONOf[SSLConfig](`a JSON object with CipherSuiteName and Protocols`, nil), DefaultDoc: "the cloud's default", Source: source, Needs: needs,
		}},
	}
}

func tlsKeys() []annotations.Declaration {
	return []annotations.Declaration{tlsPortsKey, tlsSecretKey, certificateMapKey, backendSecretKey, listenerSSLKey, backendSSLKey}
}

// checkTLS: TLS needs ports and a certificate.
func checkTLS(kind string, bag *annotations.Bag, ports []corev1.ServicePort) annotations.Problems {
	if kind != LB {
		return nil
	}
	var out annotations.Problems
	ssl, front := tlsPortsKey.Get(bag), tlsSecretKey
	if certificateMapKey.Get(bag) != "" {
		if tlsSecretKey.Get(bag) != "" {
			out = append(out, certificateMapKey.Refusal(bag, "cannot be beside "+tlsSecretKey.Name+": a listener has one certificate", "one of the two"))
		}
		front = certificateMapKey
	}
	secret := front.Get(bag)
	secured := slices.ContainsFunc(ports, ssl.Has)
	if secured && secret == "" && backendSecretKey.Get(bag) == "" {
		out = append(out, tlsPortsKey.Warning(bag, "has no effect: nothing names a certificate", tlsSecretKey.Name))
	}
	if secret != "" && !secured {
		out = append(out, front.Warning(bag, "has no effect: no port of the Service is in "+tlsPortsKey.Name, tlsPortsKey.Name))
	}
	if protocolKey.Get(bag) == protocolGRPC && (secret == "" || slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return !ssl.Has(p) })) {
		out = append(out, protocolKey.Refusal(bag, "needs TLS on every port", "all ports in "+tlsPortsKey.Name+", and "+front.Name))
	}
	return out
}

// RuleSets are rule sets by name, each the list of its rules as JSON.
type RuleSets map[string]string

// parseRuleSets parses rule sets. Each list is normalized, so that blanks and the order of
// keys do not matter.
func parseRuleSets(raw string) (RuleSets, error) {
	out := RuleSets{}
	if strings.TrimSpace(raw) == "" {
		return out, nil
	}
	var said map[string]struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.Unmarshal([]byte(raw), &said); err != nil {
		return nil, fmt.Errorf("is not legal JSON here: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		text, err := json.Marshal(said[name].Items)
		if err != nil || len(said[name].Items) == 0 {
			return nil, fmt.Errorf("has a rule set %q without items", name)
		}
		out[name] = string(text)
	}
	return out, nil
}

// admitsAll reports whether rule sets limit no clients. Rules of access control have an action of
// their own. Source: Load Balancer API reference, AllowRule.
func admitsAll(raw string) bool { return !strings.Contains(raw, `"ALLOW"`) }

// Tags are the tags that a load balancer gets on creation.
type (
	freeformTags map[string]string
	definedTags  map[string]map[string]any
)

// Keys of tags.
var (
	definedKey     = definedTagsKey(prefix+"initial-defined-tags-override", LB)
	freeformKey    = freeformTagsKey(prefix+"initial-freeform-tags-override", LB)
	netDefinedKey  = definedTagsKey(netPrefix+"initial-defined-tags-override", NLB, netPrefix+"defined-tags")
	netFreeformKey = freeformTagsKey(netPrefix+"initial-freeform-tags-override", NLB, netPrefix+"freeform-tags")
)

func tagKeys() []annotations.Declaration {
	return []annotations.Declaration{definedKey, freeformKey, netDefinedKey, netFreeformKey}
}

const tagsTogether = "Free-form and defined tags replace those of the configuration together."

func definedTagsKey(name, kind string, aliases ...string) *annotations.Key[definedTags] {
	return &annotations.Key[definedTags]{
		Name: name, Names: annotations.NamesNothing(), Aliases: aliases, Group: groupTags, Example: `{"operations": {"team": "web"}}`,
		Doc: "Defined tags that the load balancer gets when it is made.",
		Forms: []annotations.Form[definedTags]{{
			Kinds: kindList(kind), Type: annotations.JSONOf[definedTags]("a JSON object of objects", nil), Or: []string{"tags.loadBalancer.defined"}, Change: annotations.IgnoredAfterCreation,
			Empty: annotations.EmptyAbsent, Source: source, Doc: tagsTogether,
		}},
	}
}

func freeformTagsKey(name, kind string, aliases ...string) *annotations.Key[freeformTags] {
	return &annotations.Key[freeformTags]{
		Name: name, Names: annotations.NamesNothing(), Aliases: aliases, Group: groupTags, Example: `{"team": "web"}`,
		Doc: "Free-form tags that the load balancer gets when it is made.",
		Forms: []annotations.Form[freeformTags]{{
			Kinds: kindList(kind), Type: annotations.JSONOf[freeformTags]("a JSON object of texts", nil), Or: []string{"tags.loadBalancer.freeform"}, Change: annotations.IgnoredAfterCreation,
			Empty: annotations.EmptyAbsent, Source: source, Doc: tagsTogether,
		}},
	}
}
