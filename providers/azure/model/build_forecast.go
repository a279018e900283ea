package model

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// unknownAddress stands for an address that Azure has not chosen yet.
func unknownAddress(family corev1.IPFamily) string { return "the " + string(family) + " address" }

// forecastRules returns the security group's rules that follow once Azure has chosen
// the addresses. They cannot be in the plan: an entry is identified by its address.
func forecastRules(in input, facts *Facts, have *stack.Stack) []string {
	if facts == nil || in.Config.PodIP() {
		return nil
	}
	b := newBuilder(in, facts, have)
	b.foresees = true
	want, problems := b.stack()
	if problems.Errors() {
		return nil
	}
	var entries []Access
	for _, a := range stack.Each[Access](want, KindAccess) {
		if a.Destination == unknownAddress(corev1.IPFamily(a.Family)) {
			entries = append(entries, a)
		}
	}
	slices.SortFunc(entries, func(x, y Access) int { return cmp.Or(x.Rank-y.Rank, cmp.Compare(x.Family, y.Family)) })
	var out []string
	for _, a := range entries {
		out = append(out, "once "+a.Destination+" is known, "+a.inWords())
	}
	return out
}

// inWords says what an entry does.
func (a Access) inWords() string {
	if a.Deny {
		return "security group " + a.Security + " denies all other clients"
	}
	protocol := strings.ToUpper(a.Protocol) + " "
	if a.Protocol == "*" {
		protocol = ""
	}
	return "security group " + a.Security + " opens " + protocol + strings.Join(a.Ports, ", ") + " of it to " + strings.Join(a.Sources, ", ")
}
