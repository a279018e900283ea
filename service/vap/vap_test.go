package vap_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	apiservercel "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/utils/ptr"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/policy"
	"github.com/berth-lb/berth/service/vap"
	"github.com/berth-lb/berth/stack"
)

const ownClass = "berth-lb.io/own"

// compiled is a policy as the API server runs it.
type compiled struct {
	name                    string
	conditions, validations cel.ConditionEvaluator
}

// olderVersion is that of an API server that must give the same verdicts.
func olderVersion() *version.Version { return version.MajorMinor(1, 34) }

func compilePolicy(t *testing.T, p admissionv1.ValidatingAdmissionPolicy, server *version.Version) compiled {
	t.Helper()
	c, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(server))
	if err != nil {
		t.Fatal(err)
	}
	var conditions, validations []cel.ExpressionAccessor
	for _, m := range p.Spec.MatchConditions {
		conditions = append(conditions, &validating.ValidationCondition{Expression: m.Expression})
	}
	for _, v := range p.Spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression})
	}
	options := cel.OptionalVariableDeclarations{}
	out := compiled{name: p.Name, conditions: c.CompileCondition(conditions, options, environment.NewExpressions)}
	for _, v := range p.Spec.Variables {
		if r := c.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, options, environment.NewExpressions); r.Error != nil {
			t.Fatalf("%s: variable %s: %v", p.Name, v.Name, r.Error)
		}
	}
	out.validations = c.CompileCondition(validations, options, environment.NewExpressions)
	for _, err := range append(out.conditions.CompilationErrors(), out.validations.CompilationErrors()...) {
		t.Errorf("%s: %v", p.Name, err)
	}
	return out
}

// allows runs the policy on a request.
func (c compiled) allows(t *testing.T, before, after *corev1.Service) bool {
	t.Helper()
	kind, resource := corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithResource("services")
	operation := admission.Create
	if before != nil {
		operation = admission.Update
	}
	a := admission.NewAttributesRecord(after, objectOf(before), kind, after.Namespace, after.Name, resource, "", operation, nil, false, nil)
	versioned := &admission.VersionedAttributes{Attributes: a, VersionedKind: kind, VersionedObject: admission.NewLazyObject(after)}
	if before != nil {
		versioned.VersionedOldObject = admission.NewLazyObject(before)
	}
	request := cel.CreateAdmissionRequest(a, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kind))
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: after.Namespace}}
	run := func(e cel.ConditionEvaluator) bool {
		results, _, err := e.ForInput(context.Background(), versioned, request, cel.OptionalVariableBindings{}, namespace, apiservercel.RuntimeCELCostBudget)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, r := range results {
			if r.Error != nil {
				t.Fatalf("%s: %s: %v", c.name, r.ExpressionAccessor.GetExpression(), r.Error)
			}
			if r.EvalResult.Value() != true {
				return false
			}
		}
		return true
	}
	return !run(c.conditions) || run(c.validations)
}

// objectOf returns the old object of a request; nil: there is none.
func objectOf(svc *corev1.Service) runtime.Object {
	if svc == nil {
		return nil
	}
	return svc
}

// world is a cloud with a policy, in Go and as the API server runs it.
type world struct {
	cloud     providers.Entry
	admission *service.Admission
	file      *policy.Policy
	rendered  []compiled
	asked     int
	older     []compiled // the same on an API server of olderVersion
}

func newWorld(t *testing.T, cloud providers.Entry, file string) *world {
	t.Helper()
	p, err := policy.Parse([]byte(file), cloud.Annotations, cloud.Outputs.Annotations...)
	if err != nil {
		t.Fatal(err)
	}
	none, err := service.AdmissionOf("", nil, cloud.Annotations, cloud.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{cloud: cloud, file: p, admission: none}
	served := vap.Served{Default: true, Classes: append([]string{ownClass}, cloud.Classes...)}
	for _, one := range vap.Render(p, vap.CloudOf(cloud), served).Policies {
		w.rendered = append(w.rendered, compilePolicy(t, one, environment.DefaultCompatibilityVersion()))
		w.older = append(w.older, compilePolicy(t, one, olderVersion()))
	}
	return w
}

// judge returns the verdict of the controller; valid is false if the annotations are refused anyway.
func (w *world) judge(svc *corev1.Service) (allowed, valid bool) {
	judged := service.JudgeFields(svc, stack.Owner{Namespace: svc.Namespace, Name: svc.Name}, w.cloud, w.admission)
	return len(w.file.Judge(svc, judged.Reach, nil)) == 0, !judged.Problems.Errors()
}

func (w *world) allows(t *testing.T, before, after *corev1.Service) bool {
	t.Helper()
	allowed := !slices.ContainsFunc(w.rendered, func(c compiled) bool { return !c.allows(t, before, after) })
	// Some verdicts suffice for the older server: both have one compiler.
	if w.asked++; w.asked%olderEvery == 0 && allowed == slices.ContainsFunc(w.older, func(c compiled) bool { return !c.allows(t, before, after) }) {
		t.Errorf("on %s the verdict is not %v: %s %v", olderVersion(), allowed, after.Namespace, after.Annotations)
	}
	return allowed
}

// olderEvery is how many verdicts there are for one that is compared.
const olderEvery = 5

// file has every setting that is rendered.
const file = `
allowedNamespaces: ["team-*", edge]
rules:
  - {name: stay inside, namespaces: ["team-*"], exceptNamespaces: [team-edge], forbidInternet: true}
  - {name: own class alone, namespaces: [team-c], classes: [berth-lb.io/*], maxPorts: 3}
  - {name: keys, namespaces: ["*"], exceptNamespaces: [team-a], forbidAnnotations: [%s]}
`

// TestVerdictsAreThoseOfTheController compares the policies with the controller on random Services of
// every cloud: what they permit the controller permits, and where they refuse more, the Service sets
// several keys that decide whether it is internal.
func TestVerdictsAreThoseOfTheController(t *testing.T) {
	for _, cloud := range all.List() {
		t.Run(cloud.Name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, uint64(len(cloud.Name))))
			w := newWorld(t, cloud, fmt.Sprintf(file, strings.Join(somePatterns(cloud.Annotations), ", ")))
			pool := poolOf(cloud.Annotations)
			var refused, permitted, stricter int
			for range 400 {
				svc := randomService(rng, cloud, pool)
				want, valid := w.judge(svc)
				got := w.allows(t, nil, svc)
				switch {
				case !valid:
				case got && !want:
					t.Fatalf("the API server permits what the controller refuses: %s %v class %v", svc.Namespace, svc.Annotations, ptr.Deref(svc.Spec.LoadBalancerClass, ""))
				case want && !got:
					stricter++
				case got:
					permitted++
				default:
					refused++
				}
			}
			t.Logf("%d permitted, %d refused, %d refused by the API server alone", permitted, refused, stricter)
			if permitted < 20 || refused < 20 || stricter > permitted/4 {
				t.Errorf("%d permitted, %d refused, %d refused by the API server alone", permitted, refused, stricter)
			}
		})
	}
}

// somePatterns are patterns for some keys of a set, as YAML.
func somePatterns(keys *annotations.Set) []string {
	var out []string
	for i, key := range keys.AllSpellings() {
		switch {
		case i%7 == 0 && !strings.Contains(key, "<"):
			out = append(out, fmt.Sprintf("%q", key))
		case i%11 == 0:
			out = append(out, fmt.Sprintf("%q", "*"+key[len(key)*2/3:]))
		}
	}
	return out
}

// pool are keys with legal values. Keys that decide whether a load balancer is internal come first.
type pool struct {
	deciding int
	pairs    [][2]string
}

func poolOf(keys *annotations.Set) pool {
	var deciding, others [][2]string
	for _, row := range annotations.Rows(keys) {
		if row.On != annotations.ServiceAnnotation {
			continue
		}
		for _, key := range append([]string{row.Key}, row.Aliases...) {
			for _, value := range append(append([]string{row.Example}, row.Values...), "true", "false", "0", "T", "no") {
				pair := [2]string{strings.NewReplacer("<PORT>", "443", "{port}", "443", "<PROTOCOL>", "tcp").Replace(key), value}
				if row.Exposes == annotations.ToInternet {
					deciding = append(deciding, pair)
				} else {
					others = append(others, pair)
				}
			}
		}
	}
	return pool{deciding: len(deciding), pairs: append(deciding, others...)}
}

func randomService(rng *rand.Rand, cloud providers.Entry, from pool) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{}, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 443, Protocol: corev1.ProtocolTCP, NodePort: 30443}}},
	}
	namespaces := []string{"team-a", "team-a", "team-b", "team-c", "team-edge", "edge", "other"}
	svc.Namespace = namespaces[rng.IntN(len(namespaces))]
	if classes := append([]string{"", "", ownClass}, cloud.Classes...); true {
		if class := classes[rng.IntN(len(classes))]; class != "" {
			svc.Spec.LoadBalancerClass = &class
		}
	}
	add := func(pair [2]string) { svc.Annotations[pair[0]] = pair[1] }
	if rng.IntN(4) > 0 {
		add(from.pairs[rng.IntN(from.deciding)])
	}
	for range rng.IntN(3) {
		add(from.pairs[rng.IntN(len(from.pairs))])
	}
	return svc
}

// TestUpdates: a setting that a Service had before an update is not refused, a new one is.
func TestUpdates(t *testing.T) {
	cloud, err := all.Find("openstack")
	if err != nil {
		t.Fatal(err)
	}
	const (
		internal  = "service.beta.kubernetes.io/openstack-internal-load-balancer"
		forbidden = "loadbalancer.openstack.org/keep-floatingip"
	)
	w := newWorld(t, cloud, fmt.Sprintf(file, forbidden))
	service := func(of map[string]string, change func(*corev1.Service)) *corev1.Service {
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "web", Annotations: of}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
		if change != nil {
			change(svc)
		}
		return svc
	}
	public, inside := service(nil, nil), service(map[string]string{internal: "true"}, nil)
	kept := service(map[string]string{internal: "true", forbidden: "true"}, nil)
	for name, c := range map[string]struct {
		before, after *corev1.Service
		want          bool
	}{
		"public, new":                      {nil, public, false},
		"public as before":                 {public, service(map[string]string{"note": "x"}, nil), true},
		"becomes public":                   {inside, public, false},
		"becomes internal":                 {public, inside, true},
		"was of another type":              {service(nil, func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP }), public, false},
		"is being deleted":                 {inside, service(nil, func(s *corev1.Service) { s.DeletionTimestamp = &metav1.Time{} }), true},
		"forbidden annotation, as before":  {kept, service(map[string]string{internal: "true", forbidden: "true", "note": "x"}, nil), true},
		"forbidden annotation, new value":  {kept, service(map[string]string{internal: "true", forbidden: "false"}, nil), false},
		"forbidden annotation is removed":  {kept, inside, true},
		"another namespace":                {nil, service(nil, func(s *corev1.Service) { s.Namespace = "other" }), false},
		"of another controller":            {nil, service(nil, func(s *corev1.Service) { s.Spec.LoadBalancerClass = ptr.To("example.com/x") }), true},
		"class that the rule forbids":      {nil, service(map[string]string{internal: "true"}, func(s *corev1.Service) { s.Namespace = "team-c" }), false},
		"class that the rule permits":      {nil, service(map[string]string{internal: "true"}, func(s *corev1.Service) { s.Namespace, s.Spec.LoadBalancerClass = "team-c", ptr.To(ownClass) }), true},
		"class as it was before the rules": {service(map[string]string{internal: "true"}, func(s *corev1.Service) { s.Namespace = "team-c" }), service(map[string]string{internal: "true", "note": "x"}, func(s *corev1.Service) { s.Namespace = "team-c" }), true},
	} {
		if got := w.allows(t, c.before, c.after); got != c.want {
			t.Errorf("%s: allowed %v, want %v", name, got, c.want)
		}
	}
}
