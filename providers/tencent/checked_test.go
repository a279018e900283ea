package tencent_test

import (
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/tencent"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/props"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	props.Checked(t, freshSubject(), map[string]string{
		`tke-existed-lbid: is not found`: "the cloud has it",
	})
}

// TestCheckedPlaces: whether a region or a network is that of the cluster is not known without a configuration.
func TestCheckedPlaces(t *testing.T) {
	svc := props.Service("web", map[string]string{
		"service.kubernetes.io/tke-existed-lbid":    "lb-6swtxxxx",
		"service.cloud.tencent.com/cross-vpc-id":    "vpc-mjekzyps",
		"service.cloud.tencent.com/cross-region-id": "ap-guangzhou",
	}).Service
	cloud := providers.EntryOf(tencent.Cloud())
	kind := cloud.Choose(svc).Kind
	values, problems := cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
	problems = append(problems, cloud.Judge(providers.Request{Owner: stack.Owner{Namespace: svc.Namespace, Name: svc.Name}, Service: svc, Kind: kind, Values: values, Backends: nodeports.BackendsOf(svc, nodeports.NodeSet{}, nil, nodeports.FallbackOf(svc))})...)
	if problems.Errors() {
		t.Error(problems)
	}
}
