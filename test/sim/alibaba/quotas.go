package alibaba

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

// mostServerGroups is the quota of server groups in a region. Source: Alibaba Cloud, quotas of NLB.
const mostServerGroups = 3000

// mostNets is the quota of network load balancers in the region.
func (v *visit) mostNets() int { return max(mostNets, v.cloud.opt.Limits.LoadBalancers) }

// listQuotas answers the quotas of a product, of which the region is a dimension where they belong to a region.
// Source: API of Quota Center 2020-05-10, ListProductQuotas.
func listQuotas(v *visit) (any, error) {
	product, name := v.text("ProductCode"), v.text("QuotaActionCode")
	if product == "" {
		return nil, rest.Refuse(http.StatusBadRequest, "PARAMETER.ILLEGALL", "ProductCode is mandatory for this action.")
	}
	items := []any{}
	add := func(of, code string, regional bool, used, most int) {
		if of != product || name != "" && name != code {
			return
		}
		quota := rest.Object{"ProductCode": of, "QuotaActionCode": code, "QuotaType": "normal", "Consumable": true, "TotalQuota": most, "TotalUsage": used, "Dimensions": rest.Object{}}
		if regional {
			if v.text("Dimensions.1.Key") == "regionId" && v.text("Dimensions.1.Value") != v.cloud.opt.Region {
				return
			}
			quota["Dimensions"] = rest.Object{"regionId": v.cloud.opt.Region}
		}
		items = append(items, quota)
	}
	add(apiSLB, "slb_quota_instances_num", false, len(v.State.All(balancers, nil)), v.cloud.opt.Limits.LoadBalancers)
	add(apiSLB, "slb_quota_listeners_num", false, 0, v.cloud.opt.Limits.Listeners)
	add(apiNLB, "nlb_quota_loadbalancers_num", true, len(v.State.All(nets, nil)), v.mostNets())
	add(apiNLB, "nlb_quota_servergroups_num", true, len(v.State.All(serverGroups, nil)), mostServerGroups)
	return answerDone(rest.Object{"Quotas": items, "TotalCount": len(items), "MaxResults": 30}), nil
}
