package conditions

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/go-multierror"

	"github.com/berth-lb/berth/providers/fault"
)

// TestSteady: two answers to the same failure come to the same text, and what names
// the failure stays in it.
func TestSteady(t *testing.T) {
	blob := func(c string) string { return strings.Repeat(c+"aB3_-x", 40) }
	for name, tc := range map[string]struct {
		first, second string
		keeps         []string
	}{
		"EC2 encodes why": {
			"You are not authorized to perform this operation. User: arn:aws:sts::123456789012:assumed-role/berth/i-0abc is not authorized to perform: ec2:CreateSecurityGroup. Encoded authorization failure message: " + blob("q"),
			"You are not authorized to perform this operation. User: arn:aws:sts::123456789012:assumed-role/berth/i-0abc is not authorized to perform: ec2:CreateSecurityGroup. Encoded authorization failure message: " + blob("z"),
			[]string{"ec2:CreateSecurityGroup", "arn:aws:sts::123456789012:assumed-role/berth/i-0abc"},
		},
		"a request has a number": {
			"https response error StatusCode: 500, RequestID: 0e5b1f0a-1c1e-4b58-9a53-2f3a1f7d1a01, api error InternalFailure",
			"https response error StatusCode: 500, RequestID: 7c1d3e2b-aaaa-4b58-9a53-000000000000, api error InternalFailure",
			[]string{"500", "InternalFailure"},
		},
		"a connection has a port": {
			"read tcp 10.0.0.1:43122->52.94.1.2:443: connection reset by peer",
			"read tcp 10.0.0.1:43124->52.94.7.8:443: connection reset by peer",
			[]string{"connection reset by peer"},
		},
		"and with IPv6": {
			"dial tcp [2001:db8::1]:43122: i/o timeout", "dial tcp [2001:db8::2]:443: i/o timeout", []string{"dial tcp", "i/o timeout"},
		},
		"Google numbers its failures": {
			"Internal error. Please try again or contact Google Support. (Code: '54A52FC2FD1A8.7E2E6AB.2F9EB3F6')",
			"Internal error. Please try again or contact Google Support. (Code: '64A52FC2FD1A9.9E2E6AB.1F9EB3F7')",
			[]string{"Internal error"},
		},
		"Azure says how long": {
			"The request is being throttled. Please try again after 17 seconds. CorrelationId 'b9a1c1de-5f0e-4d38-8b1c-3f7a0d6f4a11'",
			"The request is being throttled. Please try again after 3 seconds. CorrelationId '00a1c1de-5f0e-4d38-8b1c-3f7a0d6f4a12'",
			[]string{"is being throttled", "try again after"},
		},
		"Go says how long": {"no answer within 1m3.5s", "no answer within 59s", []string{"no answer within"}},
		"names stay": {
			"load balancer a0123456789abcdef0123456789abcde, group sg-0123456789abcdef0, /subscriptions/b9a1c1de-5f0e-4d38-8b1c-3f7a0d6f4a11/resourceGroups/rg, 60 rules, port 443, 10.0.0.0/8",
			"load balancer a0123456789abcdef0123456789abcde, group sg-0123456789abcdef0, /subscriptions/b9a1c1de-5f0e-4d38-8b1c-3f7a0d6f4a11/resourceGroups/rg, 60 rules, port 443, 10.0.0.0/8",
			[]string{"a0123456789abcdef0123456789abcde", "sg-0123456789abcdef0", "b9a1c1de-5f0e-4d38-8b1c-3f7a0d6f4a11", "60 rules", "443", "10.0.0.0/8"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := Steady(errors.New(tc.first)), Steady(errors.New(tc.second))
			if first != second {
				t.Errorf("two texts:\n%s\n%s", first, second)
			}
			for _, kept := range tc.keeps {
				if !strings.Contains(first, kept) {
					t.Errorf("%q is left out of %q", kept, first)
				}
			}
		})
	}
}

// TestFailedAtItsEnd: what was left out at the end of a text is still seen to be, and a
// full stop is not.
func TestFailedAtItsEnd(t *testing.T) {
	for text, want := range map[string]string{
		"no flavor 6f1c9a52-0d3e-4b8a-9c55-1f2e3d4c5b6a": "no flavor ...; change the Service, or the cloud resource that it names",
		"no flavor at all.": "no flavor at all; change the Service, or the cloud resource that it names",
	} {
		if got := Failed(fault.New(fault.Invalid, "%s", text)).Message; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSteadySet: which calls are throttled is not told.
func TestSteadySet(t *testing.T) {
	failed := func(names ...string) error {
		var all *multierror.Error
		for _, name := range names {
			all = multierror.Append(all, errors.Join(errors.New("create "+name), fault.New(fault.Throttled, "too many calls")))
		}
		return all
	}
	if a, b := Steady(failed("a", "b")), Steady(failed("b")); a != b || a == "" {
		t.Errorf("told as %q, then as %q", a, b)
	}
}
