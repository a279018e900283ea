package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/berth-lb/berth/providers"
)

// Quotas that are compared.
const (
	// defaultBalancers is the number of load balancers that an account may have.
	// Source: https://cloud.baidu.com/doc/BLB/s/Hjwvxnouu-en, "Use Restriction".
	defaultBalancers = 60
	// addressQuota is the name of the quota of EIPs. Source: bce-sdk-go:services/quotacenter/client_test.go.
	addressQuota = "eipInstanceQuota"
	rootQuota    = "/v1/quota_center"
)

// diagnoseBalancerQuota compares the number of load balancers of both kinds with the default quota. BLB has no call
// that answers with the quota of the account.
func (s *Session) diagnoseBalancerQuota(ctx context.Context) providers.Diagnosis {
	const name = "BLB instances"
	used := 0
	for _, root := range []string{rootApp, rootNormal} {
		found, err := listAll[json.RawMessage](ctx, s, "blbList", newRequest(apiBLB, http.MethodGet, root, nil))
		if err != nil {
			return providers.Unchecked(providers.CheckQuota, name, err.Error(), "See the results of BRT502.")
		}
		used += len(found)
	}
	return providers.WithinDefault(name, used, defaultBalancers)
}

// diagnoseAddressQuota compares the quota of EIPs of the region with what is used. The role has no permission for it.
// Source: https://cloud.baidu.com/doc/QUOTA_CENTER/s/Bks05q9pb.
func (s *Session) diagnoseAddressQuota(ctx context.Context) providers.Diagnosis {
	r := newRequest(apiQuota, http.MethodGet, rootQuota, nil, "type", "QUOTA", "serviceType", "EIP", "region", s.config.Region, "name", addressQuota)
	var answer struct {
		Result []struct {
			Name string `json:"name"`
			Most string `json:"value"`
			Used string `json:"used"`
		} `json:"result"`
	}
	if err := s.read(ctx, r, &answer); err != nil {
		return providers.Unchecked(providers.CheckQuota, addressQuota, err.Error(), "Allow these credentials to read the quota center, and run the command again.")
	}
	for _, q := range answer.Result {
		most, errMost := strconv.Atoi(q.Most)
		used, errUsed := strconv.Atoi(q.Used)
		if q.Name == addressQuota && errMost == nil && errUsed == nil {
			return providers.WithinQuota(q.Name, used, most)
		}
	}
	return providers.Unchecked(providers.CheckQuota, addressQuota, "the answer has no numbers of it", "Look at the quotas of EIP in the console.")
}
