package oci_test

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers/oci/model"
)

// TestConfig verifies that the official file is read, including its old spellings. Unknown
// keys are reported as warnings, and invalid values are refused.
func TestConfig(t *testing.T) {
	c, problems, err := model.ReadConfig(strings.NewReader(`
auth: {region: us-phoenix-1, tenancy: t, user: u, fingerprint: f, key: k, key_passphrase: p, compartment: c}
loadBalancer: {subnet1: a, subnet2: b, securityListManagementMode: Frontend, securityLists: {a: list}}
rateLimiter: {rateLimitQPSRead: 7, rateLimitBucketWrite: 3}
tags: {loadBalancer: {freeform: {team: web}}, blockVolume: {freeform: {x: y}}}
metrics: {collectorEndpoint: x}
`))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if c.Compartment != "c" || c.Auth.Passphrase != "p" || c.LoadBalancer.Lists["a"] != "list" || *c.RateLimiter.ReadRate != 7 || c.Tags.LoadBalancer.Freeform["team"] != "web" {
		t.Errorf("read %+v", c)
	}
	_, problems, err = model.ReadConfig(strings.NewReader("loadBalancer: {subnt1: a}\n"))
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "subnt1") {
		t.Errorf("a misspelt key: %v, %v", err, problems)
	}
	for file, want := range map[string]string{
		"loadBalancer: {securityListManagementMode: all}\n":        `securityListManagementMode: "all" is not legal; legal are All, Frontend, None`,
		"useInstancePrincipals: true\nuseWorkloadIdentity: true\n": "legal is one of them",
		"auth: [": "cloud config",
	} {
		if _, _, err := model.ReadConfig(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}
