package wire

import (
	"cmp"
	"context"
	"net/url"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
)

// actListQuotas is needed by the check of quotas alone. The role does not have it.
const actListQuotas = model.APIQuota + ".ListProductQuotas"

// countedQuota is a quota that creations count against.
type countedQuota struct {
	product, name string
	regional      bool // it is one of the region, not of the account
}

// countedQuotas lists the quotas that are compared.
// Source: Server Load Balancer, "CLB quotas" and "NLB quotas".
func countedQuotas() []countedQuota {
	return []countedQuota{
		{model.APIBalancer, "slb_quota_instances_num", false},
		{model.APINet, "nlb_quota_loadbalancers_num", true}, {model.APINet, "nlb_quota_servergroups_num", true},
	}
}

// diagnoseQuotas compares the quotas of the account and of the region with what is used.
func (s *Session) diagnoseQuotas(ctx context.Context) []providers.Diagnosis {
	out := make([]providers.Diagnosis, 0, len(countedQuotas()))
	for _, q := range countedQuotas() {
		out = append(out, s.diagnoseQuota(ctx, q))
	}
	return out
}

// diagnoseQuota reads one quota. An answer for several regions has the region of each entry.
// Source: API of Quota Center 2020-05-10, ListProductQuotas.
func (s *Session) diagnoseQuota(ctx context.Context, q countedQuota) providers.Diagnosis {
	params := url.Values{"ProductCode": {q.product}, "QuotaActionCode": {q.name}}
	if q.regional {
		params.Set("Dimensions.1.Key", "regionId")
		params.Set("Dimensions.1.Value", s.config.Region)
	}
	var answer struct {
		Quotas []struct {
			Name       string            `json:"QuotaActionCode"`
			Dimensions map[string]string `json:"Dimensions"`
			Most       *float64          `json:"TotalQuota"`
			Used       *float64          `json:"TotalUsage"`
		} `json:"Quotas"`
	}
	if err := s.read(ctx, actListQuotas, params, &answer); err != nil {
		return providers.Unchecked(providers.CheckQuota, q.name, err.Error(), "Allow quotas:ListProductQuotas to these credentials, and run the command again.")
	}
	for _, found := range answer.Quotas {
		here := cmp.Or(found.Dimensions["regionId"], s.config.Region) == s.config.Region
		if found.Name == q.name && here && found.Most != nil && found.Used != nil {
			return providers.WithinQuota(q.name, int(*found.Used), int(*found.Most))
		}
	}
	return providers.Unchecked(providers.CheckQuota, q.name, "the answer has no numbers of it", "Look at it with: aliyun quotas ListProductQuotas --ProductCode "+q.product)
}
