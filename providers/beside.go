package providers

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/status"
)

// Beside returns the entries, each with the knowledge about the others: annotations
// of another cloud are reported on the Service, and one that requests an internal
// load balancer there never results in a public one here.
func Beside(entries ...Entry) []Entry {
	out := slices.Clone(entries)
	for i, e := range entries {
		others := slices.Delete(slices.Clone(entries), i, i+1)
		sets := make([]*annotations.Set, 0, len(others))
		for _, o := range others {
			sets = append(sets, o.Annotations)
		}
		beside := annotations.Beside{
			Sets: sets, Shared: sharedPrefixes(), Known: knownKeys(), Elsewhere: otherPrefixes(), Kinds: internalRequests(e.Capabilities),
		}
		e.Annotations = e.Annotations.Beside(beside)
		e.Exposed = func(r Request) annotations.Problems { return refuseExposure(r, e, others) }
		open := e.Open
		e.Open = func(ctx context.Context, config io.Reader, env Env) (Bound, annotations.Problems, error) {
			bound, problems, err := open(ctx, config, env)
			if err == nil {
				bound.Annotations, bound.Exposed = bound.Annotations.Beside(beside), e.Exposed
			}
			return bound, problems, err
		}
		out[i] = e
	}
	return out
}

// internalRequests returns, for each kind, how a Service requests it.
func internalRequests(kinds []Capability) map[string]string {
	out := map[string]string{}
	for _, c := range kinds {
		out[c.Kind] = c.Asked
	}
	return out
}

// knownKeys returns the keys of all entries.
func knownKeys() []string {
	return append(status.OwnAnnotations(), status.AnnotationLookAgain, status.AnnotationAllow)
}

// sharedPrefixes belong to load balancers in general, not to one cloud.
func sharedPrefixes() []string {
	return []string{"service.beta.kubernetes.io/", "alb.ingress.kubernetes.io/", status.Prefix}
}

// otherPrefixes returns the prefixes of clouds and add-ons that are not among the
// entries. Source: the documentation of each.
func otherPrefixes() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(foreignPrefixes) {
		name, prefixes, found := strings.Cut(line, " = ")
		if found && !strings.HasPrefix(line, "#") {
			out[name] = strings.Fields(prefixes)
		}
	}
	return out
}

// foreignPrefixes is the list of clouds and add-ons that there is no Set for.
//
//go:embed foreign.txt
var foreignPrefixes string

// internalElsewhere returns the annotations that request an internal load balancer on
// those clouds, with the values that do; none: any value.
// Source: the documentation of each.
func internalElsewhere() map[string][]string {
	return map[string][]string{
		"alb.ingress.kubernetes.io/scheme":                                             {"internal"},
		"service.beta.kubernetes.io/aws-load-balancer-scheme":                          {"internal"},
		"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type":           {"intranet"},
		"service.beta.kubernetes.io/alicloud-loadbalancer-address-type":                {"intranet"},
		"service.beta.kubernetes.io/cce-load-balancer-internal-vpc":                    {"true"},
		"load-balancer.hetzner.cloud/disable-public-network":                           {"true"},
		"service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type":               {"private"},
		"service.kubernetes.io/qcloud-loadbalancer-internal-subnetid":                  nil,
		"service.beta.kubernetes.io/tencentcloud-loadbalancer-type-internal-subnet-id": nil,
	}
}

// refuseExposure refuses a Service that requests an internal load balancer only with
// annotations of other clouds, or with misspelt ones, if this one would be public. It refuses
// limits of the clients that would be ignored.
func refuseExposure(r Request, own Entry, others []Entry) annotations.Problems {
	out := refuseUnlimited(r, own)
	reach := own.Reach(r)
	if !reach.Internet {
		return out
	}
	add := func(key, value, cloud string) {
		if own.Annotations.Works(key, r.Kind) {
			return // this cloud reads it, and decided otherwise
		}
		out = append(out, annotations.Problem{Code: annotations.CodeExposed, Key: key, Value: value, Message: fmt.Sprintf(
			"asks %s for an internal load balancer and has no effect on %s, so this one would be open to the internet; write %s: %q, or remove the key if that is meant",
			cloud, own.Name, reach.Scheme.Key, reach.Internal)})
	}
	for _, o := range others {
		if key := internalRequest(o, r, r.Service); key != "" {
			add(key, r.Service.Annotations[key], o.Name)
		}
	}
	for key, values := range internalElsewhere() {
		value, said := r.Service.Annotations[key]
		if said && (values == nil || slices.Contains(values, strings.ToLower(value))) {
			add(key, value, "another controller")
		}
	}
	if key := insideOtherKind(own, r); key != "" && reach.Scheme.Source == annotations.FromDefault && reach.Scheme.Key != "" {
		out = append(out, annotations.Problem{Code: annotations.CodeExposed, Key: key, Value: r.Service.Annotations[key], Message: fmt.Sprintf(
			"has no effect on %s, so this load balancer would be open to the internet; write %s: %q, or remove the key if that is meant",
			r.Kind, reach.Scheme.Key, reach.Internal)})
	}
	out = append(out, reportDoubts(r, own, reach)...)
	out = append(out, reportMisplaced(r, own, reach)...)
	for _, p := range reportMisspelt(r, own, reach) {
		if !slices.ContainsFunc(out, func(q annotations.Problem) bool { return q.Key == p.Key }) {
			out = append(out, p)
		}
	}
	return out.Sorted()
}

// reportDoubts refuses a new public load balancer where a key that decides on that has a value
// that is not legal: the official controllers read it as public. A class, or another such key
// with a legal value, decides. A load balancer that the internet reaches already is not opened:
// its Service has the warning that the value counts for nothing.
func reportDoubts(r Request, own Entry, reach Reach) annotations.Problems {
	if r.Service != nil && isPublished(r.Service) {
		return nil
	}
	doubts := r.Values.Doubts()
	among := func(o annotations.Origin) bool { return o.Key == reach.Scheme.Key }
	if reach.Scheme.Source != annotations.FromDefault && !slices.ContainsFunc(doubts, among) {
		return nil
	}
	var out annotations.Problems
	for _, o := range doubts {
		out = append(out, annotations.Problem{Code: annotations.CodeExposed, Key: o.Key, Value: o.Raw, Message: fmt.Sprintf(
			"is not legal, so the load balancer would be open to the internet; for an internal one set %s: %q, for a public one remove the annotation",
			o.Key, internalValue(own, o.Key, reach))})
	}
	return out
}

// refuseUnlimited refuses a new load balancer where a key that limits the clients has a value that
// is not legal: the official controllers ignore it. A live load balancer is kept as it is.
func refuseUnlimited(r Request, own Entry) annotations.Problems {
	if r.Service == nil || len(r.Service.Status.LoadBalancer.Ingress) > 0 {
		return nil
	}
	var out annotations.Problems
	for _, o := range r.Values.Unlimited() {
		row, _ := own.Annotations.Row(o.Key)
		out = append(out, annotations.Problem{
			Code: annotations.CodeUnlimited, Key: o.Key, Value: o.Raw, Legal: row.For(r.Kind).Legal,
			Message: "is not legal on " + r.Kind + " and would be ignored, so clients that the annotation excludes would be admitted",
		})
	}
	return out
}

// reportMisplaced refuses a Service whose request for an internal load balancer is a label.
func reportMisplaced(r Request, own Entry, reach Reach) annotations.Problems {
	var out annotations.Problems
	for _, key := range slices.Sorted(maps.Keys(r.Service.Labels)) {
		row, known := own.Annotations.Row(key)
		if _, said := r.Service.Annotations[key]; said || !known || row.Exposes != annotations.ToInternet || row.On != annotations.ServiceAnnotation {
			continue
		}
		svc := r.Service.DeepCopy()
		if svc.Annotations == nil {
			svc.Annotations = map[string]string{}
		}
		svc.Annotations[key] = svc.Labels[key]
		other := reach.Scheme.Source == annotations.FromDefault && reach.Scheme.Key != "" &&
			insideOtherKind(own, Request{Owner: r.Owner, Service: svc, Kind: r.Kind}) == key
		if other || asksInside(own, r, svc, key) {
			out = append(out, annotations.Problem{Code: annotations.CodeExposed, Key: key, Value: svc.Labels[key], Message: fmt.Sprintf(
				"asks for an internal load balancer and has no effect as a label, so this one would be open to the internet; write the annotation %s: %q, or remove the label if that is meant",
				reach.Scheme.Key, reach.Internal)})
		}
	}
	return out
}

// isPublished reports whether the status of a Service has an address of the internet. Host names
// are ignored.
func isPublished(svc *corev1.Service) bool {
	return slices.ContainsFunc(svc.Status.LoadBalancer.Ingress, func(at corev1.LoadBalancerIngress) bool {
		a, err := netip.ParseAddr(at.IP)
		return err == nil && a.IsGlobalUnicast() && !a.IsPrivate()
	})
}

// internalValue returns the value of a key that requests an internal load balancer.
func internalValue(own Entry, key string, reach Reach) string {
	if example := own.Annotations.Example(key); example != "" {
		return example
	}
	return reach.Internal
}

// internalRequest returns the annotation by which a Service requests an internal load
// balancer of a cloud; empty if it does not.
func internalRequest(cloud Entry, r Request, svc *corev1.Service) string {
	kind := cloud.Choose(svc).Kind
	source := annotations.SourceOf(svc)
	// Unknown keys decide nothing, and are not compared with known ones.
	source.Annotations = maps.Clone(source.Annotations)
	maps.DeleteFunc(source.Annotations, func(key, _ string) bool { return !cloud.Annotations.Knows(key) })
	if len(source.Annotations) == 0 {
		return "" // the Service has no annotation of this cloud
	}
	bag, _ := cloud.Annotations.Parse(kind, source)
	reach := cloud.Reach(Request{Owner: r.Owner, Service: svc, Kind: kind, Values: bag})
	if reach.Internet || reach.Scheme.Source != annotations.FromAnnotation {
		return ""
	}
	return reach.Scheme.Key
}

// insideOtherKind returns the annotation by which a Service requests an internal load balancer of
// another kind of the cloud, which the kind that it gets does not read; empty if there is none.
func insideOtherKind(own Entry, r Request) string {
	svc := r.Service.DeepCopy()
	maps.DeleteFunc(svc.Annotations, func(key, _ string) bool { return !own.Annotations.Knows(key) || own.Annotations.Works(key, r.Kind) })
	if len(svc.Annotations) == 0 {
		return ""
	}
	for _, c := range own.Capabilities {
		bag, _ := own.Annotations.Parse(c.Kind, annotations.SourceOf(svc))
		reach := own.Reach(Request{Owner: r.Owner, Service: svc, Kind: c.Kind, Values: bag})
		if !reach.Internet && reach.Scheme.Source == annotations.FromAnnotation && svc.Annotations[reach.Scheme.Key] != "" {
			return reach.Scheme.Key
		}
	}
	return ""
}

// mostMisspelt bounds the misspelt keys of a Service that are judged: each is tried in a copy
// of the Service.
const mostMisspelt = 50

// reportMisspelt refuses a Service that would, or might, request an internal load balancer if a
// key were spelled as probably intended.
func reportMisspelt(r Request, own Entry, reach Reach) annotations.Problems {
	var out annotations.Problems
	tried := 0
	for _, key := range slices.Sorted(maps.Keys(r.Service.Annotations)) {
		value := r.Service.Annotations[key]
		for _, meant := range own.Annotations.MayMean(key, r.Kind) {
			if _, said := r.Service.Annotations[meant]; said {
				continue
			}
			if tried++; tried > mostMisspelt {
				return out
			}
			svc := r.Service.DeepCopy()
			delete(svc.Annotations, key)
			svc.Annotations[meant] = value
			what, write, as := "an internal load balancer", meant, value
			switch elsewhere := own.Annotations.ReadElsewhere(key); {
			case elsewhere && internalRequest(own, r, svc) != meant:
				continue // a value that another cloud reads need not be legal here
			case asksInside(own, r, svc, meant):
			case !elsewhere && reach.Scheme.Source == annotations.FromDefault && reach.Scheme.Key != "" &&
				insideOtherKind(own, Request{Owner: r.Owner, Service: svc, Kind: r.Kind}) == meant:
				what, write, as = "an internal load balancer of another kind", reach.Scheme.Key, reach.Internal
			default:
				continue
			}
			out = append(out, annotations.Problem{Code: annotations.CodeExposed, Key: key, Value: value, Message: fmt.Sprintf(
				"is not known, and looks like %s, which asks for %s; this one would be open to the internet; write %s: %q, or remove the key if that is meant",
				meant, what, write, as)})
			break
		}
	}
	return out
}

// asksInside reports whether a Service requests an internal load balancer by a key, or has
// an illegal value there that may request one.
func asksInside(own Entry, r Request, svc *corev1.Service, key string) bool {
	kind := own.Choose(svc).Kind
	bag, problems := own.Annotations.Parse(kind, annotations.SourceOf(svc))
	reach := own.Reach(Request{Owner: r.Owner, Service: svc, Kind: kind, Values: bag})
	if !reach.Internet {
		return reach.Scheme.Source == annotations.FromAnnotation && reach.Scheme.Key == key
	}
	bad := func(p annotations.Problem) bool { return p.Key == key && p.Severity == annotations.Error }
	return slices.ContainsFunc(problems, bad) || len(reportDoubts(Request{Values: bag}, own, reach)) > 0
}

// NoCloud returns a set without keys that reports keys that none of the clouds reads.
func NoCloud(entries []Entry) *annotations.Set {
	sets := make([]*annotations.Set, 0, len(entries))
	for _, e := range entries {
		sets = append(sets, e.Annotations)
	}
	set, _ := annotations.NewSet("any cloud that Berth serves", nil) // without declarations nothing is at fault
	return set.Beside(annotations.Beside{Sets: sets, Any: true, Shared: sharedPrefixes(), Known: knownKeys(), Elsewhere: otherPrefixes()})
}
