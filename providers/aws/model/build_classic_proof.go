package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// provenFirst returns the next listeners, of the desired ones. A Classic Load Balancer
// has one listener for each port, of which AWS can change only the certificate. Any
// other change deletes it before the new one is created, and the port stays unserved
// where AWS refuses the certificate, which cannot be checked beforehand. So a
// certificate that no listener has yet first gets a trial listener, on an unused port
// that no security group of ours admits. Until that exists, the found listener stays.
// The next plan creates the rest.
func (b *builder) provenFirst(wanted []stack.Resource) []stack.Resource {
	certificate := certificateOf(wanted)
	found := slices.DeleteFunc(slices.Clone(b.have.Of(KindClassicPort)), func(r stack.Resource) bool { return r.Proof == stack.None })
	if certificate == "" || hasCertificate(found, certificate) || len(found) >= classicListeners {
		return wanted
	}
	var next []stack.Resource
	closes := false
	for _, r := range found {
		at := slices.IndexFunc(wanted, func(w stack.Resource) bool { return w.Key == r.Key })
		if at >= 0 && inPlace(wanted[at], r) {
			next = append(next, wanted[at])
			continue
		}
		kept, _ := r.Spec.(ClassicPort)
		kept.Waits, closes = true, true
		next = append(next, stack.Resource{Key: r.Key, In: r.In, Slot: PortSlot(kept.Port), Spec: kept})
	}
	switch {
	case !closes:
		return wanted
	case hasCertificate(next, certificate):
		return next // one gets it in place
	}
	return append(next, trialListener(next, wanted, certificate))
}

// keepClients lets the clients of listeners that wait for the proof in as before.
func (b *builder) keepClients() {
	key := stack.Key{Kind: KindIngress}
	found, _ := b.found(key)
	have, _ := found.Spec.(Ingress)
	res, own := b.out.Get(key)
	want, _ := res.Spec.(Ingress)
	if !own {
		return
	}
	for _, l := range stack.Each[ClassicPort](b.out, KindClassicPort) {
		for _, rule := range have.Rules {
			if l.Waits && rule.Protocol == "tcp" && rule.FromPort == l.Port && !slices.ContainsFunc(want.Rules, func(w Permission) bool { return w.Compare(rule) == 0 }) {
				want.Rules = append(want.Rules, rule)
			}
		}
	}
	slices.SortFunc(want.Rules, Permission.Compare)
	res.Spec = want
	b.out.Put(res)
}

// certificateOf is the certificate that some of the listeners have; a Service asks for one.
func certificateOf(listeners []stack.Resource) string {
	for _, r := range listeners {
		if l, _ := r.Spec.(ClassicPort); l.Certificate != "" {
			return l.Certificate
		}
	}
	return ""
}

func hasCertificate(listeners []stack.Resource, certificate string) bool {
	return slices.ContainsFunc(listeners, func(r stack.Resource) bool {
		l, _ := r.Spec.(ClassicPort)
		return strings.EqualFold(l.Certificate, certificate)
	})
}

// inPlace reports whether AWS can turn the found listener into the desired one in place.
func inPlace(wanted, found stack.Resource) bool {
	w, _ := wanted.Spec.(ClassicPort)
	f, _ := found.Spec.(ClassicPort)
	return w.InstancePort == f.InstancePort && strings.EqualFold(w.Protocol, f.Protocol) && strings.EqualFold(w.InstanceProtocol, f.InstanceProtocol)
}

const highestPort = 65535

// MarkTrials marks those of the listeners of a load balancer that a trial has left: they
// are on one of the highest ports, and send where another one does.
func MarkTrials(all []ClassicPort) {
	for i, l := range all {
		all[i].Trial = l.Port > highestPort-classicListeners && slices.ContainsFunc(all, func(o ClassicPort) bool { return o.Port < l.Port && o.InstancePort == l.InstancePort })
	}
}

func isTrial(spec stack.Spec) bool {
	l, _ := spec.(ClassicPort)
	return l.Trial
}

// trialListener returns a listener with a certificate and the action of the first of
// the others, on the highest free port.
func trialListener(others, wanted []stack.Resource, certificate string) stack.Resource {
	l, _ := others[0].Spec.(ClassicPort)
	l.Certificate, l.Protocol, l.Waits, l.Trial = certificate, "SSL", false, true
	if strings.HasPrefix(strings.ToUpper(l.InstanceProtocol), "HTTP") {
		l.Protocol = "HTTPS"
	}
	key := func() stack.Key { return stack.Key{Kind: KindClassicPort, Name: Decimal(l.Port)} }
	used := func(r stack.Resource) bool { return r.Key == key() }
	for l.Port = highestPort; slices.ContainsFunc(others, used) || slices.ContainsFunc(wanted, used); {
		l.Port--
	}
	return stack.Resource{Key: key(), In: ClassicKey(), Slot: PortSlot(l.Port), Spec: l}
}
