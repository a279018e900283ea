package vap

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/policy"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Cloud is the cloud of the Services.
type Cloud struct {
	Keys *annotations.Set
	// Judge reports whether the internet could reach the load balancer of a Service, whether the
	// cloud accepts its annotations, and the kind of load balancer.
	Judge func(*corev1.Service) (public, valid bool, kind string)
}

// Served are the Services that the policy is for.
type Served struct {
	Default bool     // those without a class
	Classes []string // those with one of these
}

// Rendered is the closed part of a policy file.
type Rendered struct {
	Policies []admissionv1.ValidatingAdmissionPolicy
	Bindings []admissionv1.ValidatingAdmissionPolicyBinding
	// Left are settings of the file that the controller alone enforces, each as
	// "rule NAME: SETTING".
	Left []string
}

// listVariables of the policies: the texts that a Service has now and had before. One of another type
// had nothing before.
const (
	annotationsNow = "variables.annotations"
	annotationsOld = "variables.oldAnnotations"
	wasServed      = "variables.before"
)

// Render renders a policy: one object for the namespaces, and one for each rule with something that
// annotations and class of a Service decide.
func Render(p *policy.Policy, cloud Cloud, served Served) Rendered {
	out := Rendered{}
	taken := map[string]bool{}
	for _, patterns := range p.Namespaces() {
		if len(patterns) > 0 {
			out.add(taken, "namespaces", served, "true", []admissionv1.Validation{{
				Expression: matchAny("request.namespace", patterns) + " || " + wasServed,
				Message:    writeMessage("the controller serves no Service of this namespace", "", "a namespace among "+strings.Join(patterns, ", ")),
				Reason:     ptr.To(metav1.StatusReasonForbidden),
			}})
		}
	}
	internal := internalBy(cloud, served)
	for _, r := range p.Rules() {
		validations := validationsOf(p, r, internal, cloud)
		for _, left := range r.OfController() {
			out.Left = append(out.Left, "rule "+r.Name+": "+left)
		}
		if len(validations) > 0 {
			where := joinAnd([]string{matchAny("request.namespace", r.Namespaces), "!(" + matchAny("request.namespace", r.ExceptNamespaces) + ")"})
			out.add(taken, r.Name, served, where, validations)
		}
	}
	return out
}

// validationsOf returns what a rule requires.
func validationsOf(p *policy.Policy, r policy.Rule, internal func(of string) string, cloud Cloud) []admissionv1.Validation {
	var out []admissionv1.Validation
	require := func(expression, text string) {
		out = append(out, admissionv1.Validation{Expression: expression, Message: text, Reason: ptr.To(metav1.StatusReasonForbidden)})
	}
	if r.Classes != nil {
		require(matchAny("variables.class", r.Classes)+" || "+wasServed,
			writeMessage("spec.loadBalancerClass is not allowed", r.Name, strings.Join(quoteAll(r.Classes), " or ")))
	}
	if len(r.ForbidAnnotations) > 0 {
		for _, where := range []string{"annotations", "labels"} {
			require(expressForbidden(p.Forbidden(r), where), writeMessage("the Service has "+where+" that are not allowed", r.Name, "a Service without "+strings.Join(r.ForbidAnnotations, ", ")))
		}
	}
	if r.ForbidInternet {
		require(internal(annotationsNow)+" || "+wasServed+" && !("+internal(annotationsOld)+")",
			writeMessage("the internet could reach the load balancer", r.Name, "an internal one, see "+strings.Join(listDeciding(cloud.Keys), ", ")))
	}
	return out
}

// expressForbidden returns the CEL that refuses forbidden keys, except keys that the Service had before
// with the same value.
func expressForbidden(keys policy.Keys, where string) string {
	now, old := "variables."+where, "variables.old"+strings.ToUpper(where[:1])+where[1:]
	parts := []string{anyOf("k", keys.Names, keys.Expressions)}
	for _, both := range keys.Both {
		parts = append(parts, "k.matches("+strconv.Quote(both[0])+") && k.matches("+strconv.Quote(expressionOf(both[1]))+")")
	}
	if len(keys.Except) > 0 {
		parts = []string{"!(k in " + quoteList(keys.Except) + ") && (" + joinOr(parts) + ")"}
	}
	return "!" + now + ".exists(k, (" + joinOr(parts) + ") && !(k in " + old + " && " + old + "[k] == " + now + "[k]))"
}

// internalBy returns a function that returns the CEL for internal load balancers. It
// distinguishes classes with different defaults.
func internalBy(cloud Cloud, served Served) func(of string) string {
	byClass := map[string][]way{}
	if served.Default {
		byClass[""] = newProber(cloud, "").ways()
	}
	for _, class := range served.Classes {
		byClass[class] = newProber(cloud, class).ways()
	}
	return func(of string) string {
		classes := map[string][]string{} // by expression
		for class, ways := range byClass {
			e := expressWays(ways, of)
			classes[e] = append(classes[e], class)
		}
		var out []string
		for _, e := range slices.Sorted(maps.Keys(classes)) {
			if len(classes) == 1 {
				return "(" + e + ")"
			}
			slices.Sort(classes[e])
			out = append(out, "variables.class in "+quoteList(classes[e])+" && ("+e+")")
		}
		return "(" + joinOr(out) + ")"
	}
}

// listDeciding lists the keys that decide whether a load balancer is internal.
func listDeciding(keys *annotations.Set) []string {
	var out []string
	for _, row := range annotations.Rows(keys) {
		if row.Exposes == annotations.ToInternet && row.On == annotations.ServiceAnnotation {
			out = append(out, row.Key)
		}
	}
	return out
}

// add adds a policy and its binding.
func (r *Rendered) add(taken map[string]bool, rule string, served Served, where string, validations []admissionv1.Validation) {
	name := nameOf(rule, taken)
	var classes []string
	if served.Default {
		classes = append(classes, "")
	}
	fail := admissionv1.Fail
	r.Policies = append(r.Policies, admissionv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"services"}},
			}}}},
			MatchConditions: []admissionv1.MatchCondition{
				{Name: "is-a-load-balancer", Expression: "object.spec.type == 'LoadBalancer'"},
				{Name: "is-not-being-deleted", Expression: "!has(object.metadata.deletionTimestamp)"},
				{Name: "is-served", Expression: "(has(object.spec.loadBalancerClass) ? object.spec.loadBalancerClass : '') in " + quoteList(append(classes, served.Classes...))},
				{Name: "is-in-a-namespace-of-the-rule", Expression: where},
			},
			Variables:   listVariables(),
			Validations: validations,
		},
	})
	r.Bindings = append(r.Bindings, admissionv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	})
}

// listVariables are what the validations use of the Service now and before.
func listVariables() []admissionv1.Variable {
	texts := func(of, condition, field string) string {
		return condition + "has(" + of + ".metadata." + field + ") ? " + of + ".metadata." + field + " : {}"
	}
	class := "has(object.spec.loadBalancerClass) ? object.spec.loadBalancerClass : ''"
	const sameClass = "(has(oldObject.spec.loadBalancerClass) ? oldObject.spec.loadBalancerClass : '') == variables.class"
	return []admissionv1.Variable{
		{Name: "class", Expression: class},
		{Name: "before", Expression: "oldObject != null && oldObject.spec.type == 'LoadBalancer' && " + sameClass},
		{Name: "annotations", Expression: texts("object", "", "annotations")},
		{Name: "labels", Expression: texts("object", "", "labels")},
		{Name: "oldAnnotations", Expression: texts("oldObject", "variables.before && ", "annotations")},
		{Name: "oldLabels", Expression: texts("oldObject", "variables.before && ", "labels")},
	}
}

// writeMessage returns a text of at most one line in the words of the controller's refusal.
func writeMessage(what, rule, legal string) string {
	by := ""
	if rule != "" {
		by = fmt.Sprintf(" (policy, rule %q)", rule)
	}
	return string(annotations.CodePolicy) + ": " + what + by + "; legal: " + legal
}

func quoteAll(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, t := range texts {
		out = append(out, strconv.Quote(t))
	}
	return out
}

// maxName bounds names, which may be followed by a number.
const maxName = 200

// nameOf returns a name of an object for a rule that none has yet.
func nameOf(rule string, taken map[string]bool) string {
	words := strings.FieldsFunc(strings.ToLower(rule), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	base := strings.TrimSuffix(status.Prefix, ".io/") + "-" + strings.Join(words, "-")
	base = strings.TrimRight(base[:min(len(base), maxName)], "-")
	name := base
	for i := 2; taken[name]; i++ {
		name = base + "-" + strconv.Itoa(i)
	}
	taken[name] = true
	return name
}

// CloudOf returns the cloud of an entry. What a Service names in the cloud's configuration is not
// known.
func CloudOf(cloud providers.Entry) Cloud {
	// Without a policy nothing is refused, and no file is read.
	none, _ := service.AdmissionOf("", nil, cloud.Annotations, cloud.Outputs)
	return Cloud{Keys: cloud.Annotations, Judge: func(svc *corev1.Service) (public, valid bool, kind string) {
		judged := service.JudgeFields(svc, stack.Owner{Namespace: svc.Namespace, Name: svc.Name}, cloud, none)
		return judged.Reach.Internet, !judged.Problems.Errors(), judged.Kind
	}}
}
