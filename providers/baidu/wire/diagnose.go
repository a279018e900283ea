package wire

import (
	"context"
	"net/http"

	"github.com/berth-lb/berth/providers"
)

const roleFile = "baidu.txt"

// Objects that do not exist: an identifier, and an address of documentation (RFC 5737).
const (
	absentBalancer = "lb-00000000"
	absentAddress  = "192.0.2.1"
)

// Diagnose makes a list call, and a deletion of what does not exist, for each product of the role, and compares the quotas. IAM
// evaluates no permission before it is used.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	return append(s.trials().Diagnose(ctx, roles), s.diagnoseBalancerQuota(ctx), s.diagnoseAddressQuota(ctx))
}

// trials declares the calls without effect of each product.
func (s *Session) trials() providers.Trials {
	return providers.Trials{
		About: "Baidu AI Cloud credentials", Role: roleFile, Permissions: providers.RoleLines(func(line string) []string { return []string{line} }), Calls: s.buildTrials(),
		Login: "Correct AccessKeyID and SecretAccessKey in the cloud configuration file.",
	}
}

// buildTrials returns the calls without effect, by the lines of the role.
func (s *Session) buildTrials() map[string][]providers.Trial {
	list := func(api, path string) providers.Trial {
		r := newRequest(api, http.MethodGet, path, nil, "maxKeys", "1")
		return providers.Trial{Call: func(ctx context.Context) error { return s.read(ctx, r, nil) }}
	}
	remove := func(api, path string) providers.Trial {
		r := newRequest(api, http.MethodDelete, path, nil)
		return providers.Trial{Absent: true, Call: func(ctx context.Context) error { return s.write(ctx, r, nil) }}
	}
	return map[string][]providers.Trial{
		"BLB: management": {list(apiBLB, rootApp), remove(apiBLB, rootApp+"/"+absentBalancer)},
		"EIP: management": {list(apiEIP, rootEIP), remove(apiEIP, rootEIP+"/"+absentAddress)},
	}
}
