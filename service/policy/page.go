package policy

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// field documents a key of the policy file.
type field struct{ key, value, doc string }

// listFields returns all keys, in the order of the page.
func listFields() []field {
	return []field{
		{"allowedNamespaces", "patterns", "Namespaces whose Services are served; without it all are. `--allowed-namespaces` is held against besides."},
		{"rules[].name", "text", "Told on a Service that is refused. Required, each once."},
		{"rules[].namespaces", "patterns", "Namespaces that the rule is for. Required; `\"*\"` means all."},
		{"rules[].exceptNamespaces", "patterns", "Those among them that it is not for."},
		{"rules[].forbidAnnotations", "patterns", "Annotations and labels that Services must not have. Every other spelling of the same key is meant too: deprecated names, and any case where the cloud does not care. A pattern that matches no key of the cloud is an error."},
		{"rules[].forbidInternet", "true or false", "Refuses load balancers that clients outside of the network could reach, in whatever way the Service requests it. This includes an existing load balancer that the cloud cannot make internal: its backends follow the nodes, and nothing else of it is changed."},
		{"rules[].forbidOpenNodes", "true or false", "Refuses Services that name a security group which the nodes then let in on all ports, node ports and kubelet of others included: on AWS, any that a Classic Load Balancer is given, as the official controller does with it. Groups of Network Load Balancers are let in on the ports of the Service alone, and stay allowed."},
		{"rules[].classes", "patterns", "Values of `spec.loadBalancerClass` that may be used; `\"\"` is a Service without one."},
		{"rules[].kinds", "patterns", "Kinds of load balancers that may be asked for, as the pages of the clouds name them."},
		{"rules[].maxPorts", "number", "How many ports a Service may have, counted as the [kinds](kinds.md) do; more than a kind can have is refused anyway."},
		{"rules[].maxSourceRanges", "number", "How many different source ranges a Service may name, in the field and in annotations together."},
		{"rules[].maxRules", "number", "How many entries of security groups, firewalls and lists of clients the ports and ranges of a Service may take. On AWS that is a rule for each port and range, on Azure one for each service tag, and one for all ranges, by protocol and address, on Google Cloud one for each IP family, on OpenStack a range of a listener, and on Oracle Cloud a rule for each port and range."},
		{"rules[].maxLoadBalancers", "number", "How many Services of type LoadBalancer of each namespace are served, the older ones first; 0 serves none. A Service beyond it is served when an older one is deleted. Together with the three above it bounds what a namespace can take of quotas that all share."},
		{"rules[].names", "thing: patterns", "What of the cloud may be named, per thing; `*` stands for all things without a key of their own. Names are compared as they are written, case included."},
	}
}

// describeThings returns a description of each thing.
func describeThings() map[providers.Thing]string {
	return map[providers.Thing]string{
		annotations.ThingAddress:       "a static address: by number (also `spec.loadBalancerIP`), by name, or by id",
		annotations.ThingAddressPrefix: "a prefix that an address is made from",
		annotations.ThingBucket:        "a bucket for access logs",
		annotations.ThingCertificate:   "a certificate",
		annotations.ThingConfigMap:     "a ConfigMap of the Service's namespace that names certificates (Oracle Cloud)",
		annotations.ThingSection:       "a section of the cloud configuration (OpenStack, `class`)",
		annotations.ThingFlavor:        "the flavor or shape of a load balancer",
		annotations.ThingHostname:      "a host name that the status or a private link service shows",
		annotations.ThingPrefixList:    "a prefix list of clients",
		annotations.ThingNetwork:       "the network of a load balancer (Tencent Cloud)",
		annotations.ThingSubscription:  "a subscription that sees a private link service, or whose connections are approved; `*` as a value means all",
		annotations.ThingZone:          "an availability zone",
		annotations.ThingDNSLabel:      "a DNS label of a public address",
		annotations.ThingLink:          "a private link service; without an annotation with its name it counts as `pls-<frontend>`",
		annotations.ThingLoadBalancer:  "a load balancer of others, one of several of a cluster, or the name of the Service's own",
		annotations.ThingResourceGroup: "a resource group",
		annotations.ThingSecurityGroup: "a security group. On AWS the nodes let in every machine of the first one that a Classic Load Balancer is given, on all ports, as with the official controller; `forbidOpenNodes` forbids that alone",
		annotations.ThingAccount:       "a ServiceAccount of the Service's namespace as which the cloud is called (Oracle Cloud)",
		annotations.ThingSubnet:        "a subnet",
		annotations.ThingTargetGroup:   "a target group that is not the Service's own",
	}
}

// Reference is the page about the policy file.
func Reference() string {
	var b strings.Builder
	b.WriteString(`# Policy file

Generated by ` + "`make docs` from `service/policy`. The controller reads the file with `--policy-config`, and again within seconds when it\n" +
		"changes; `berth plan` and `berth check` show with the same flag what it would refuse.\n\n" + `A refused Service gets a Warning event and the condition ` + "`berth-lb.io/Accepted`" + ` false with the reason ` + "`PolicyRefused`" + `, which name
the rule, the key, the value and what is allowed. Nothing is created. An existing load balancer is kept as it is, and its
backends follow the nodes. Deletion is always allowed.

**All rules that match a namespace apply**, so their order does not matter, and another rule only ever forbids more. In a
pattern ` + "`*`" + ` stands for any text and nothing else is special. A list that is left out limits nothing; an empty one allows
nothing; a key without a value is an error, as is everything that is not understood. At the start an error ends the program;
later the policy before stays in force and the log says so.

| Key | Value | Meaning |
|---|---|---|
`)
	for _, f := range listFields() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.key, f.value, f.doc)
	}
	b.WriteString("\n## Things\n\n| Thing | What it is |\n|---|---|\n")
	for _, t := range annotations.Things() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", t, describeThings()[t])
	}
	b.WriteString("\n## Example\n\n```yaml\n" + Example + "```\n")
	return b.String()
}

// Example is a policy for a cluster whose namespaces belong to teams; the same in
// every cloud.
const Example = `allowedNamespaces: ["team-*", ingress]
rules:
  - name: teams stay inside
    namespaces: ["team-*"]
    exceptNamespaces: ["team-edge"]
    forbidInternet: true
  - name: teams leave room for others
    namespaces: ["team-*"]
    maxPorts: 20
    maxSourceRanges: 50
    maxRules: 200
    maxLoadBalancers: 10
  - name: teams name nothing of others
    namespaces: ["team-*"]
    names:
      subnet: ["apps-*"]
      "*": []
`
