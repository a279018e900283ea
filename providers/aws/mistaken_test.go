package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws"
	"github.com/berth-lb/berth/test/props"
)

// TestMistaken: what annotations name and AWS does not have takes nothing away.
func TestMistaken(t *testing.T) {
	setCredentials(t)
	const subnet, address = "subnet-0123456789abcdef0", "eipalloc-0123456789abcdef0"
	const subnets, addresses = prefix + "aws-load-balancer-subnets", prefix + "aws-load-balancer-eip-allocations"
	nlb, lbc := serviceCase("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil), controllerService("lbc", nil, nil)
	props.Mistaken(t, newSubject(""), serviceCase("clb", nil, nil), subnets, subnet)
	props.Mistaken(t, newSubject(""), nlb, subnets, subnet)
	props.Unheeded(t, newSubject(""), nlb, addresses, address)
	for _, value := range []string{subnet, "nowhere"} {
		props.Mistaken(t, freshController, lbc, subnets, value)
	}
	for _, value := range []string{address, "nowhere"} {
		props.Mistaken(t, freshController, lbc, addresses, value)
	}
	for _, key := range []string{"security-groups", "ssl-cert"} {
		props.Mistaken(t, freshController, lbc, prefix+"aws-load-balancer-"+key, "nowhere")
	}
}

// TestMistakenGroups: the same of security groups, by id.
func TestMistakenGroups(t *testing.T) {
	setCredentials(t)
	const group, groups, extra = "sg-0123456789abcdef0", prefix + "aws-load-balancer-security-groups", prefix + "aws-load-balancer-extra-security-groups"
	managed := newSubject("\n[Global]\nNLBSecurityGroupMode = Managed\n")
	props.Mistaken(t, newSubject(""), serviceCase("clb", nil, nil), groups, group)
	props.Mistaken(t, newSubject(""), serviceCase("clb", nil, nil), extra, group)
	props.Mistaken(t, managed, serviceCase("nlb-managed", map[string]string{"aws-load-balancer-type": "nlb"}, nil), groups, group)
	props.Mistaken(t, freshController, controllerService("lbc", nil, nil), groups, group)
}

// prefixList is one that the simulated cloud begins with.
const prefixList = "pl-063f249e35dd744b7"

// TestFoundOut: the same for a resource that AWS shows to no caller, and refuses.
func TestFoundOut(t *testing.T) {
	setCredentials(t)
	const cert, lists = prefix + "aws-load-balancer-ssl-cert", prefix + "aws-load-balancer-security-group-prefix-lists"
	nowhere := certificates + "0"
	tls := map[string]string{"aws-load-balancer-ssl-cert": certificate, "aws-load-balancer-ssl-ports": "https"}
	nlb := map[string]string{"aws-load-balancer-type": "nlb"}
	props.FoundOut(t, newSubject(""), serviceCase("clb", nil, nil), cert, nowhere)
	props.FoundOut(t, newSubject(""), serviceCase("clb-tls", tls, nil), cert, nowhere)
	props.FoundOut(t, newSubject(""), serviceCase("nlb", nlb, nil), cert, nowhere)
	props.FoundOut(t, freshController, controllerService("lbc", nil, nil), cert, nowhere)
	props.FoundOut(t, freshController, controllerService("lbc-tls", tls, nil), cert, nowhere)
	props.FoundOut(t, freshController, controllerService("lbc-tls-more", tls, nil), cert, certificate+","+nowhere)
	props.FoundOut(t, freshController, controllerService("lbc", nil, nil), lists, "pl-0123456789abcdef0")
	listed := map[string]string{"aws-load-balancer-security-group-prefix-lists": prefixList}
	const policy = prefix + "aws-load-balancer-ssl-negotiation-policy"
	props.FoundOut(t, newSubject(""), serviceCase("clb-tls", tls, nil), policy, "nowhere")
	props.FoundOut(t, newSubject(""), serviceCase("nlb-tls", map[string]string{"aws-load-balancer-type": "nlb", "aws-load-balancer-ssl-cert": certificate}, nil), policy, "nowhere")
	props.FoundOut(t, freshController, controllerService("lbc-tls", tls, nil), policy, "nowhere")
	props.FoundOut(t, freshController, controllerService("lbc-listed", listed, nil), lists, "pl-0123456789abcdef0")
	props.FoundOut(t, freshController, inGroup(controllerService("group", nil, nil), "front"), lists, "pl-0123456789abcdef0")
	props.FoundOut(t, freshController, inGroup(controllerService("group-listed", listed, nil), "front"), lists, "pl-0123456789abcdef0")
}

// TestFoundOutAmid: the same where the ports become other ones in the same change.
func TestFoundOutAmid(t *testing.T) {
	setCredentials(t)
	const cert = prefix + "aws-load-balancer-ssl-cert"
	nowhere := certificates + "0"
	tls := map[string]string{"aws-load-balancer-ssl-cert": certificate}
	nlb := map[string]string{"aws-load-balancer-type": "nlb"}
	managed := newSubject("\n[Global]\nNLBSecurityGroupMode = Managed\n")
	props.FoundOutAmid(t, newSubject(""), serviceCase("clb", nil, nil), cert, nowhere, certificate)
	props.FoundOutAmid(t, newSubject(""), serviceCase("clb-tls", tls, nil), cert, nowhere, certificate)
	props.FoundOutAmid(t, newSubject(""), serviceCase("nlb", nlb, nil), cert, nowhere, certificate)
	props.FoundOutAmid(t, managed, serviceCase("nlb-managed", nlb, nil), cert, nowhere, certificate)
	props.FoundOutAmid(t, freshController, controllerService("lbc", nil, nil), cert, nowhere, certificate)
	props.FoundOutAmid(t, freshController, controllerService("lbc-tls", tls, nil), cert, nowhere, certificate)
	props.FoundOutAmid(t, freshController, inGroup(controllerService("group", nil, nil), "front"), cert, nowhere, certificate)
}

// TestMisspelt: a misspelt wish for an internal load balancer takes nothing away from a live
// public one.
func TestMisspelt(t *testing.T) {
	setCredentials(t)
	cloud := providers.EntryOf(aws.Cloud())
	props.Misspelt(t, newSubject(""), cloud, serviceCase("clb", nil, nil), prefix+"aws-load-balancer-interal", "true")
	props.Misspelt(t, newSubject(""), cloud, serviceCase("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil), prefix+"aws-load-balancer-scheme", "internal ")
	props.Misspelt(t, newSubject(""), cloud, serviceCase("clb", nil, nil), prefix+"aws-load-balancer-security-group-prefix-lists", prefixList) // of another kind
}
