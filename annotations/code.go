package annotations

import "strings"

// Code names one kind of problem permanently: it never changes its meaning, so that
// scripts, editors and pages can refer to it.
type Code string

// Codes of what is wrong with the fields of a Service.
const (
	CodeFile          Code = "BRT101" // a file cannot be read as YAML or JSON
	CodeField         Code = "BRT102" // a field has a value that the API server refuses
	CodeDropped       Code = "BRT103" // a field is not known to the API server
	CodeNodePortRange Code = "BRT104" // a node port is outside of the usual range
	CodeSpec          Code = "BRT110" // a field asks for what no load balancer here can have
	CodeProtocol      Code = "BRT111" // a protocol that the kind does not serve
	CodeMixed         Code = "BRT112" // protocols that the kind does not serve together
	CodeAffinity      Code = "BRT113" // spec.sessionAffinity
	CodeAddress       Code = "BRT114" // spec.loadBalancerIP
	CodeFamily        Code = "BRT115" // spec.ipFamilies
	CodeNodePort      Code = "BRT116" // a port without a node port
	CodePorts         Code = "BRT117" // more ports than the kind can have
	CodeRanges        Code = "BRT118" // spec.loadBalancerSourceRanges
	CodeHealthPort    Code = "BRT119" // spec.healthCheckNodePort
	CodeSpecNote      Code = "BRT120" // a field has less effect than it says
)

// Codes of what is wrong with annotations and labels.
const (
	CodeValue       Code = "BRT201" // a value that is not legal
	CodeUnknown     Code = "BRT202" // an undeclared key
	CodeOtherCloud  Code = "BRT203" // a key of another cloud
	CodeExposed     Code = "BRT204" // internal in the words of another cloud only
	CodeOtherKind   Code = "BRT205" // a key without effect on this kind
	CodeOtherPlace  Code = "BRT206" // a key that is read somewhere else
	CodeDeprecated  Code = "BRT207" // an old spelling
	CodeUnsupported Code = "BRT208" // a key that this version does not act upon
	CodeOverridden  Code = "BRT209" // a key that another one overrides
	CodeNoSuchPort  Code = "BRT210" // a key for a port or protocol that the Service does not have
	CodeDefaulted   Code = "BRT211" // a bad value that counts as another one
	CodeNote        Code = "BRT212" // a value has less effect than it says
	CodeLacking     Code = "BRT213" // a key has no effect without another one
	CodeUnlimited   Code = "BRT214" // a limit of the clients that has no effect
)

// Codes of what the controller's own settings say.
const (
	CodePolicy    Code = "BRT301" // the policy refuses it
	CodeNamespace Code = "BRT302" // the labels of the namespace are not known
	CodePlan      Code = "BRT303" // what only the state of the cluster or the cloud shows
)

// code is the one that the problem says, else what follows from its key.
func (p Problem) code() Code {
	field := strings.HasPrefix(p.Key, "spec.") || strings.HasPrefix(p.Key, "metadata.")
	switch {
	case p.Code != "":
		return p.Code
	case field && p.Severity == Error:
		return codeOfField(p.Key)
	case field:
		return CodeSpecNote
	case p.Severity == Error:
		return CodeValue
	}
	return CodeNote
}

// codeOfField is the code of an error in a field of which nothing more is said.
func codeOfField(key string) Code {
	for prefix, code := range map[string]Code{
		"spec.sessionAffinity": CodeAffinity, "spec.loadBalancerIP": CodeAddress, "spec.ipFamilies": CodeFamily,
		"spec.loadBalancerSourceRanges": CodeRanges, "spec.healthCheckNodePort": CodeHealthPort,
	} {
		if strings.HasPrefix(key, prefix) {
			return code
		}
	}
	return CodeSpec
}

// CodeOf returns the code of a problem; there is one for each.
func CodeOf(p Problem) Code { return p.code() }

// CodeDoc documents a code.
type CodeDoc struct {
	Code     Code
	Severity string // as it usually is: error, warning, or both
	Title    string
	Doc      string // what it means
	Fix      string // what to do
}
