package vap

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/berth-lb/berth/annotations"
)

// setting is a key with those of its values that have the same effect.
type setting struct {
	key     string
	values  []string
	any     bool     // every value has the effect but an empty one, and
	but     []string // these
	anyCase bool     // the cloud reads the key in any case
	decides bool     // the key admits the internet or not
}

// way is a combination of settings that makes a load balancer internal, and the settings that undo it.
type way struct {
	all    []setting
	undone []setting
}

// prober finds out by judging Services which annotations make a load balancer internal. So it
// follows from the same code as the verdict of the controller, and no second table can differ from it.
type prober struct {
	cloud Cloud
	class string
	tried []setting // every key with all values that are tried
}

// unlikelyValues returns two values that no key lists: a key for which both have the same effect is
// taken to have it for all.
func unlikelyValues() []string { return []string{"subnet-0x1", "other-0x2"} }

func newProber(cloud Cloud, class string) prober {
	p := prober{cloud: cloud, class: class}
	for _, row := range annotations.Rows(cloud.Keys) {
		if row.On != annotations.ServiceAnnotation || row.PerPort || row.Support != annotations.Works || row.Writer == annotations.ByController {
			continue
		}
		for _, key := range append([]string{row.Key}, row.Aliases...) {
			p.tried = append(p.tried, setting{key: key, values: valuesOf(row), anyCase: cloud.Keys.Knows(strings.ToUpper(key)), decides: row.Exposes == annotations.ToInternet})
		}
	}
	return p
}

// valuesOf returns the values of a key that are tried: the legal ones as far as they can be listed,
// and for a key that decides also other spellings of them.
func valuesOf(row annotations.Row) []string {
	values := append([]string{row.Example}, row.Values...)
	for _, variant := range row.Variants {
		values = append(values, variant.Values...)
	}
	if row.Exposes == annotations.ToInternet {
		for _, v := range append(slices.Clone(values), "true", "false", "1", "0", "t", "f") {
			values = append(values, v, strings.ToLower(v), strings.ToUpper(v))
			if v != "" {
				values = append(values, strings.ToUpper(v[:1])+strings.ToLower(v[1:]))
			}
		}
		values = append(values, unlikelyValues()...)
	}
	slices.Sort(values)
	return slices.DeleteFunc(slices.Compact(values), func(v string) bool { return v == "" })
}

// isInternal judges a Service with the annotations; valid is false if the cloud refuses them.
func (p prober) isInternal(of map[string]string) (internal, valid bool) {
	internal, valid, _ = p.judge(of)
	return internal, valid
}

func (p prober) judge(of map[string]string) (internal, valid bool, kind string) {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "probe", Annotations: of},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 443, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(443), NodePort: 30443}}},
	}
	if p.class != "" {
		svc.Spec.LoadBalancerClass = ptr.To(p.class)
	}
	public, valid, kind := p.cloud.Judge(svc)
	return valid && !public, valid, kind
}

// ways lists the combinations of settings that make a load balancer internal: one setting, or one
// that chooses another kind of load balancer with one that the kind reads. None includes another one.
func (p prober) ways() []way {
	if internal, valid := p.isInternal(nil); valid && internal {
		return []way{p.complete(nil)}
	}
	var out []way
	for _, s := range p.effective(nil, true) {
		out = append(out, p.complete([]setting{s}))
	}
	singles := out
	_, _, usual := p.judge(nil)
	for i, first := range p.tried {
		for _, value := range first.values {
			of := map[string]string{first.key: value}
			if internal, valid, kind := p.judge(of); internal || !valid || kind == usual {
				continue
			}
			for _, second := range p.effective(of, true) {
				if isSingle(singles, second.key) || slices.ContainsFunc(p.tried[:i], func(s setting) bool { return s.key == second.key }) {
					continue // a way by itself, or found from its other end
				}
				out = append(out, p.complete([]setting{{key: first.key, values: []string{value}}, second}))
			}
		}
	}
	return out
}

func isSingle(singles []way, key string) bool {
	return slices.ContainsFunc(singles, func(w way) bool { return w.all[0].key == key })
}

// complete adds what undoes a way.
func (p prober) complete(all []setting) way {
	of := map[string]string{}
	for _, s := range all {
		of[s.key] = s.values[0]
	}
	return way{all: all, undone: p.effective(of, false)}
}

// effective lists the settings, each a key that is not among the annotations, with which the load
// balancer becomes internal, or public.
func (p prober) effective(of map[string]string, internal bool) []setting {
	var out []setting
	for _, s := range p.tried {
		if _, set := of[s.key]; set {
			continue
		}
		found := setting{key: s.key, anyCase: s.anyCase, decides: s.decides}
		with := maps.Clone(of)
		if with == nil {
			with = map[string]string{}
		}
		for _, value := range s.values {
			with[s.key] = value
			switch is, valid := p.isInternal(with); {
			case valid && is == internal:
				found.values = append(found.values, value)
			case valid || internal:
				found.but = append(found.but, value)
			}
		}
		found.any = !slices.ContainsFunc(unlikelyValues(), func(v string) bool { return !slices.Contains(found.values, v) })
		if !internal && found.decides && !slices.ContainsFunc(unlikelyValues(), func(v string) bool { return slices.Contains(found.but, v) }) {
			found.any = true // what is not known to leave it internal may make it public
		}
		if len(found.values) > 0 {
			out = append(out, found)
		}
	}
	return out
}

// expressWays returns the CEL for Services whose annotations a variable holds.
func expressWays(ways []way, of string) string {
	var out []string
	for _, w := range ways {
		var conditions []string
		for _, s := range w.all {
			conditions = append(conditions, s.holds(of))
			if s.anyCase {
				conditions = append(conditions, "!"+of+".exists(k, k != "+strconv.Quote(s.key)+" && k.matches("+strconv.Quote(s.recogniser())+"))")
			}
		}
		for _, s := range w.undone {
			conditions = append(conditions, "!("+s.mayHold(of)+")")
		}
		out = append(out, joinAnd(conditions))
	}
	slices.Sort(out)
	return joinOr(slices.Compact(out))
}

// recogniser returns the regular expression of a key that is read in any case.
func (s setting) recogniser() string { return "(?i)" + expressionOf(s.key) }

// holds returns the CEL that is true if the annotations have the setting, the key as it is declared.
func (s setting) holds(of string) string {
	key := strconv.Quote(s.key)
	return key + " in " + of + " && " + s.hasEffect(of+"["+key+"]")
}

// mayHold is holds for every spelling of the key.
func (s setting) mayHold(of string) string {
	if !s.anyCase {
		return s.holds(of)
	}
	return of + ".exists(k, k.matches(" + strconv.Quote(s.recogniser()) + ") && " + s.hasEffect(of+"[k]") + ")"
}

// hasEffect returns the CEL that is true if a value has the effect.
func (s setting) hasEffect(value string) string {
	if s.any {
		return "!(" + value + " in " + quoteList(append([]string{""}, s.but...)) + ")"
	}
	return value + " in " + quoteList(s.values)
}
