package service

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Judged is a Service judged by its fields and annotations alone.
type Judged struct {
	Kind     string
	Reach    providers.Reach
	Problems annotations.Problems
	Optional string // why not every installation serves the kind; empty: each does
}

// JudgeFields judges a Service for a cloud without asking it. As in the loop, the policy does not
// judge a Service with an invalid value: what it requests is unknown.
func JudgeFields(svc *corev1.Service, owner stack.Owner, cloud providers.Entry, admission *Admission) Judged {
	request := providers.Request{Owner: owner, Service: svc, Kind: cloud.Choose(svc).Kind}
	var problems annotations.Problems
	request.Values, problems = cloud.Annotations.Parse(request.Kind, annotations.SourceOf(svc))
	if cloud.Exposed != nil {
		problems = problems.Outweigh(cloud.Exposed(request))
	}
	out := Judged{Kind: request.Kind, Reach: cloud.Reach(request)}
	valid := !problems.Errors()
	if valid {
		problems = append(problems, admission.Judge(svc, out.Reach)...)
	}
	problems = append(problems, providers.Exceeds(cloud.Capabilities, out.Reach)...)
	request.Backends = nodeports.BackendsOf(svc, nodeports.NodeSet{}, nil, nodeports.FallbackOf(svc))
	if kind, known := providers.CapabilityOf(cloud.Capabilities, out.Reach.Kind); known {
		problems = append(problems, kind.Judge(svc, request.Backends)...)
		out.Optional = kind.Optional
	}
	// A live load balancer may have what the annotations lack, and keeps it.
	if live := len(svc.Status.LoadBalancer.Ingress) > 0; valid && !live && cloud.Judge != nil {
		problems = append(problems, refusedAnyway(cloud, request, problems)...)
	}
	out.Problems = problems
	return out
}

// refusedAnyway lists the errors that the cloud finds in a new Service, without known ones.
func refusedAnyway(cloud providers.Entry, request providers.Request, known annotations.Problems) annotations.Problems {
	var out annotations.Problems
	for _, p := range cloud.Judge(request) {
		same := func(q annotations.Problem) bool { return q.Key == p.Key && q.Message == p.Message }
		if p.Severity == annotations.Error && !slices.ContainsFunc(append(known, out...), same) {
			out = append(out, p)
		}
	}
	return out
}

// PublicProblems returns problems of annotations in the form of documents.
func PublicProblems(problems annotations.Problems) []plan.Problem {
	var out []plan.Problem
	for _, p := range problems.Sorted() {
		severity := plan.Error
		if p.Severity == annotations.Warning {
			severity = plan.Warning
		}
		text := strings.TrimPrefix(p.String(), p.Key+": ")
		out = append(out, plan.Problem{Severity: severity, Code: string(annotations.CodeOf(p)), Where: p.Key, Text: text})
	}
	return out
}
