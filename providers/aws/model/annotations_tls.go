package model

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// Keys about TLS and protocols.
var (
	certKey = &annotations.Key[string]{
		Name: lbPrefix + "ssl-cert", Names: annotations.NamesThe(annotations.ThingCertificate), Group: groupTLS, Example: "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d",
		Doc: "Certificate with which the load balancer ends TLS.",
		Forms: []annotations.Form[string]{
			{Kinds: onCLB(), Type: oneARN(), Empty: annotations.EmptyAbsent, Change: annotations.Brief, Source: cpaMain,
				Doc: "Berth first tries a certificate that no listener has on a free port, before it deletes a listener to replace it."},
			{Kinds: onNLB(), Type: oneARN(), Empty: annotations.EmptyAbsent, Source: cpaMain, Doc: "UDP ports do not use it."},
		},
	}
	sslPortsKey = &annotations.Key[annotations.Ports]{
		Name: lbPrefix + "ssl-ports", Group: groupTLS, Example: "443,https",
		Doc: "Ports that use the certificate, by number or name.",
		Forms: []annotations.Form[annotations.Ports]{{
			Kinds:   onCPA(),
			Type:    annotations.Custom("port list", `a comma separated list of port numbers or names without blanks, or "*" for all`, rawPorts),
			Default: annotations.AllPorts(), DefaultDoc: "all ports", Change: annotations.Brief, Source: cpaMain,
			Doc: "Blanks count: an entry with a blank before it matches no port, and a warning names it.",
		}},
	}
	sslPolicyKey = &annotations.Key[string]{
		Name: lbPrefix + "ssl-negotiation-policy", Names: annotations.NamesNothing(), Group: groupTLS, Example: "ELBSecurityPolicy-TLS-1-2-2017-01",
		Doc: "Predefined security policy of TLS ports. Taking the key away changes nothing.",
		Forms: []annotations.Form[string]{
			{Kinds: onCLB(), Type: annotations.NonEmpty(), DefaultDoc: "as AWS chooses", Removal: annotations.Stays, Source: cpaBalancer},
			{Kinds: onNLB(), Type: annotations.NonEmpty(), DefaultDoc: "as AWS chooses", Removal: annotations.Stays, Empty: annotations.EmptyAbsent, Source: cpaBalancer},
			{Kinds: onLBC(), Type: annotations.NonEmpty(), Or: []string{"DefaultSslPolicy"}, Empty: annotations.EmptyParsed, DefaultDoc: defaultSSLPolicy, Source: lbcGuide,
				Doc: "Taking the key away brings the default back."},
		},
	}
	backendKey = &annotations.Key[string]{
		Name: lbPrefix + "backend-protocol", Names: annotations.NamesNothing(), Group: groupTLS, Example: "http",
		Doc: "Protocol between the load balancer and the nodes.",
		Forms: []annotations.Form[string]{
			{Kinds: onCLB(), Type: annotations.String().Legally(backendLegal), DefaultDoc: "tcp", Change: annotations.Brief, Source: cpaMain,
				Doc: `Without a certificate on the port only "http" has an effect.`},
			{Kinds: onNLB(), Type: annotations.String().Legally(`"ssl" to encrypt again, any other text for tcp`), DefaultDoc: "tcp", Source: cpaMain,
				Doc: "Only on ports with a certificate. The target group is created again and the listener switched to it."},
			{Kinds: onLBC(), Type: annotations.String().Legally(`"ssl" to encrypt again, any other text for tcp`), DefaultDoc: "tcp", Source: lbcGuide,
				Doc: "Only on ports with a certificate. The target group is created again and the listener switched to it."},
		},
	}
	proxyKey = &annotations.Key[bool]{
		Name: lbPrefix + "proxy-protocol", Group: groupTLS, Example: "*",
		Doc: "Sends the PROXY protocol to all ports of the targets.",
		Forms: []annotations.Form[bool]{
			{Kinds: onCLB(), Type: annotations.BoolWords([]string{"*"}, []string{""}, false), Source: cpaMain, Doc: "Version 1."},
			{Kinds: onLBC(), Type: annotations.BoolWords([]string{"*"}, nil, false), Source: lbcGuide, Doc: "Version 2. Wins over all other keys about it."},
		},
	}
)

const backendLegal = `"tcp", "ssl", "http" or "https"`

// oneARN takes exactly one certificate: lists are a matter of the AWS Load
// Balancer Controller, and AWS refuses one in this place.
func oneARN() annotations.Type[string] {
	return annotations.ARN("acm", "iam").Checked(func(arn string) error {
		if strings.Contains(arn, ",") {
			return errors.New("is a list, only one certificate is possible")
		}
		return nil
	}).Legally("one ARN of ACM or IAM")
}

// rawPorts splits without cutting blanks, as the official controller does: a
// number that it reads as a name gets no TLS there, so it gets none here.
func rawPorts(raw string) (annotations.Ports, error) {
	if raw == "" || raw == "*" {
		return annotations.AllPorts(), nil
	}
	var out annotations.Ports
	for _, item := range strings.Split(raw, ",") {
		if number, err := strconv.ParseInt(item, 10, 32); err == nil {
			out.Numbers = append(out.Numbers, int32(number))
		} else {
			out.Names = append(out.Names, item)
		}
	}
	slices.Sort(out.Numbers)
	slices.Sort(out.Names)
	return out, nil
}

func tlsKeys() []annotations.Declaration {
	return []annotations.Declaration{certKey, sslPortsKey, sslPolicyKey, backendKey, proxyKey}
}
