package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/aws"
	"github.com/berth-lb/berth/test/props"
)

// TestNamesRefused verifies that a policy that lets nothing be named holds while a process runs.
func TestNamesRefused(t *testing.T) {
	setCredentials(t)
	set := aws.Cloud().Annotations
	props.NamesRefused(t, newSubject(""), set, serviceCase("clb", nil, nil), serviceCase("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil))
	props.NamesRefused(t, freshController, set, controllerService("lbc", nil, nil))
}
