package annotations

import (
	"fmt"
	"strings"
)

// Codes lists every code, in order.
func Codes() []CodeDoc {
	return append(append(fieldCodes(), keyCodes()...), settingCodes()...)
}

func fieldCodes() []CodeDoc {
	return []CodeDoc{
		{CodeFile, "error", "The file cannot be read", "A document of the file is neither YAML nor JSON, or an object lacks what every object has, so nothing in it was checked.", "Mend the syntax at the line that is named. Templates are checked after rendering: `helm template . | berth check -`."},
		{CodeField, "error", "The API server refuses the value", "A field of the Service has a value that the API server does not take, so `kubectl apply` fails.", "Write one of the values that the message lists."},
		{CodeDropped, "warning", "The field is not known", "A field is misspelt, stands in the wrong place or occurs twice. `kubectl` refuses it; the API server drops it without a warning.", "Correct the spelling or the indentation."},
		{CodeNodePortRange, "warning", "The node port is outside of the usual range", "Most clusters assign node ports from 30000-32767 and refuse others; a cluster may be set up with another range.", "Leave `nodePort` away, or take one of the cluster's range."},
		{CodeSpec, "error", "The field asks for what a load balancer cannot have", "A field of the Service is legal for Kubernetes and impossible for this cloud.", "Follow the message: it names what is legal."},
		{CodeProtocol, "error", "The protocol is not served", "The kind of load balancer that the Service asks for does not serve the protocol of a port.", "Ask for another kind (the message names the annotation), or move the port to another Service."},
		{CodeMixed, "error", "The protocols cannot be served together", "The kind of load balancer serves one protocol at a time. Kubernetes' own condition `LoadBalancerPortsError` says the same on the Service.", "Make one Service for each protocol, or ask for a kind that serves both."},
		{CodeAffinity, "both", "Session affinity is not possible", "The kind of load balancer cannot keep a client with one backend.", "Set `spec.sessionAffinity: None`, or ask for another kind. It is a warning where the official controller ignores the field."},
		{CodeAddress, "both", "The address cannot be given", "`spec.loadBalancerIP` has no effect on this kind of load balancer, is no address, or is of a family that the Service does not have.", "Take the field away; the message names the annotation that chooses an address, if there is one."},
		{CodeFamily, "warning", "The IP family is not served", "The load balancer has addresses of other families than the Service asks for.", "Set `spec.ipFamilies` to what the kind serves."},
		{CodeNodePort, "both", "A port has no node port", "The kind of load balancer sends to node ports and a port of the Service has none, so the port is not served. If no port is served, this is an error; on OpenStack it is a warning, since the load balancer is made as by the official controller, with no member behind it.", "Leave `spec.allocateLoadBalancerNodePorts` away, or set it to true."},
		{CodePorts, "error", "Too many ports", "A load balancer of this kind has fewer listeners than the Service has ports.", "Take several Services."},
		{CodeRanges, "both", "The source ranges are not usable", "A range is none, or is of a family that the load balancer does not have.", "Write CIDRs such as 10.0.0.0/8."},
		{CodeHealthPort, "error", "The health check node port is missing", "With `externalTrafficPolicy: Local` the load balancer asks every node whether it has endpoints, on a port that the API server allocates.", "Leave `spec.healthCheckNodePort` to the API server."},
		{CodeSpecNote, "warning", "The field has less effect than it says", "A field of the Service is legal and has no effect, or less than it says, on this kind of load balancer.", "Follow the message, or leave the field away."},
	}
}

func keyCodes() []CodeDoc {
	return []CodeDoc{
		{CodeValue, "error", "The value of the annotation is not legal", "The value cannot be understood, or contradicts another annotation. The controller keeps the last load balancer that was accepted and does not apply the new wish.", "Write what the message names as legal. The reference page of the cloud lists every key."},
		{CodeUnknown, "warning", "The annotation is not known", "The key stands under a prefix of this cloud or of load balancers in general, and no program reads it: most often it is misspelt.", "Take the spelling that the message proposes, or remove the key."},
		{CodeOtherCloud, "warning", "The annotation is one of another cloud", "The key is read by the controllers of another cloud and has no effect on this one.", "Remove the key, or write the one of this cloud that means the same."},
		{CodeExposed, "error", "The Service would be public although it asks to be internal", "An annotation of another cloud or a misspelt one asks for an internal load balancer; or the right key has an invalid value. No valid key asks for one, so the load balancer would be open to the internet. No load balancer is created; an existing one is kept as it is.", "Add the annotation of this cloud that the message names, or remove the one that has no effect if the load balancer is meant to be public."},
		{CodeOtherKind, "warning", "The annotation has no effect on this kind", "The cloud knows the key for another kind of load balancer than the Service asks for.", "Remove the key, or ask for a kind that has it."},
		{CodeOtherPlace, "warning", "The key is read somewhere else", "The key is an annotation and stands among the labels, or belongs to another object.", "Move it to where the message says."},
		{CodeDeprecated, "warning", "The annotation is deprecated", "An older spelling still works.", "Take the newer spelling that the message names."},
		{CodeUnsupported, "warning", "The annotation is not acted upon", "The key is known, and this version reads it without doing what it says.", "See the reason in the message; remove the key if nothing depends on it."},
		{CodeOverridden, "warning", "The annotation is overridden", "Another key or field says the same thing and wins.", "Keep one of the two."},
		{CodeNoSuchPort, "warning", "The annotation names no port of the Service", "The key is for one port or protocol, and the Service has no such port.", "Write one of the port numbers that the message lists."},
		{CodeDefaulted, "warning", "The value counts as another one", "The value cannot be parsed, and the official controller uses a default, so Berth does too.", "Write what the message names as legal."},
		{CodeNote, "warning", "The annotation has less effect than it says", "The value is legal and only a part of it has effect.", "Follow the message."},
		{CodeLacking, "warning", "The annotation lacks what it needs", "The key is known and its value is legal. It has no effect without another annotation, field or setting.", "Add what the message names, or remove the key."},
		{CodeUnlimited, "error", "The Service would admit clients that it excludes", "An annotation limits the clients, such as a security group or a list of ranges. It has no effect: it is misspelt, is for another kind or another cloud, lacks what it needs, or has an invalid value that the official controller ignores. No load balancer is created; an existing one is kept as it is.", "Write the annotation that the message names, or remove the one that has no effect if all clients are to be admitted."},
	}
}

func settingCodes() []CodeDoc {
	return []CodeDoc{
		{CodePolicy, "error", "The policy does not allow it", "The policy file of the controller (`--policy-config`) or its `--allowed-namespaces` refuse what the Service asks for.", "Ask for what the message names as allowed, or have the policy changed."},
		{CodeNamespace, "warning", "The labels of the namespace are not known", "On this cloud labels of the namespace decide on its Services, and the Namespace is not among the files.", "Add the Namespace object to the files."},
		{CodePlan, "both", "The state of the cluster or the cloud stands against it", "The cluster or the cloud was asked and something there keeps the Service from being planned as written.", "Follow the message."},
	}
}

// CodesMarkdown is the page of all codes.
func CodesMarkdown() string {
	var b strings.Builder
	b.WriteString("# Problems of Services\n\n" +
		"Generated from `annotations/code_docs.go` by `make docs`.\n\n" +
		"`berth check` and `berth plan` give every problem a code. A code never changes its meaning. The controller tells the\n" +
		"same problems in the condition `berth-lb.io/Accepted` and in events.\n\n" +
		"| Code | Severity | What |\n|---|---|---|\n")
	for _, c := range Codes() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", c.Code, strings.ToLower(string(c.Code)), severityWords(c.Severity), c.Title)
	}
	for _, c := range Codes() {
		fmt.Fprintf(&b, "\n## %s\n\n**%s.** %s\n\nWhat to do: %s\n", c.Code, c.Title, c.Doc, c.Fix)
	}
	return b.String()
}

func severityWords(severity string) string {
	if severity == "both" {
		return "error or warning"
	}
	return severity
}
