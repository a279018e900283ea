package baidu

import (
	"net/http"
	"strconv"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

func listAddresses(v *visit) (any, error) {
	wanted := v.HTTP.URL.Query().Get("eip")
	return v.page("eipList", v.State.All(addresses, func(a rest.Object) bool { return v.isListed(a) && (wanted == "" || a.Text("id") == wanted) }))
}

// createAddress buys a public address. Source: https://cloud.baidu.com/doc/EIP/s/Pjwvz30fv.
func createAddress(v *visit) (any, error) {
	return v.once(func() (rest.Object, error) {
		billing := v.Body.Object("billing")
		bandwidth := numberOf(v.Body, "bandwidthInMbps", 0)
		before := billing.Text("paymentTiming") == "Prepaid"
		switch {
		case !before && billing.Text("paymentTiming") != "Postpaid":
			return nil, refuseValue("paymentTiming", "%q is not Prepaid or Postpaid", billing.Text("paymentTiming"))
		case before && numberOf(billing.Object("reservation"), "reservationLength", 0) == 0:
			return nil, refuseValue("reservation", "is missing")
		case bandwidth < 1 || bandwidth > 1000 || bandwidth > 200 && billing.Text("billingMethod") != "ByTraffic":
			return nil, refuseValue("bandwidthInMbps", "%d is out of range", bandwidth)
		}
		if err := v.checkName(v.Body.Text("name")); err != nil {
			return nil, err
		}
		if most := v.cloud.opt.Limits.Addresses; len(v.State.All(addresses, nil)) >= most {
			return nil, rest.Refuse(http.StatusRequestEntityTooLarge, "ExceedLimit", "The quota of %d EIPs is exceeded.", most)
		}
		address := v.State.address(180)
		v.State.Put(addresses, rest.Object{
			"id": address, "eip": address, "eipId": v.State.id("ip-"), "name": v.Body.Text("name"), "status": creating, "instanceType": "", "instanceId": "", "bandwidthInMbps": bandwidth,
			made: v.Time.Format(time.RFC3339Nano), "paymentTiming": billing.Text("paymentTiming"), "billingMethod": billing.Text("billingMethod"), "tags": listOf(v.Body, "tags"),
		})
		v.begin(addresses, address, creating)
		return rest.Object{"eip": address}, nil
	})
}

// listQuotas answers the quota of EIPs of the region. Numbers are texts.
// Source: https://cloud.baidu.com/doc/QUOTA_CENTER/s/Bks05q9pb.
func listQuotas(v *visit) (any, error) {
	query := v.HTTP.URL.Query()
	for _, name := range []string{"serviceType", "region"} {
		if query.Get(name) == "" {
			return nil, refuseValue(name, "is missing")
		}
	}
	items := []any{}
	if name := query.Get("name"); query.Get("serviceType") == "EIP" && query.Get("region") == v.cloud.opt.Region && (name == "" || name == "eipInstanceQuota") {
		items = append(items, rest.Object{
			"productType": "EIP", "serviceType": "EIP", "type": "QUOTA", "region": v.cloud.opt.Region, "name": "eipInstanceQuota", "description": "",
			"value": strconv.Itoa(v.cloud.opt.Limits.Addresses), "used": strconv.Itoa(len(v.State.All(addresses, nil))),
		})
	}
	return rest.Object{"marker": "", "isTruncated": false, "maxKeys": 1000, "result": items}, nil
}

// free returns an address that nothing is bound to.
func (v *visit) free(address string) (rest.Object, error) {
	a, ok := v.State.Get(addresses, address)
	switch {
	case !ok:
		return nil, rest.Refuse(http.StatusNotFound, "EipNotFound", "The EIP %s does not exist.", address)
	case a.Text("status") != available:
		return nil, rest.Refuse(http.StatusConflict, "EipStatusException", "The EIP %s is %s.", address, a.Text("status"))
	}
	return a, nil
}

// bind binds an address to a load balancer.
func (v *visit) bind(address, lb string) error {
	a, err := v.free(address)
	if err != nil {
		return err
	}
	v.State.Put(addresses, a.With(rest.Object{"instanceType": "BLB", "instanceId": lb}))
	v.begin(addresses, address, binding)
	return nil
}

func bindAddress(v *visit) (any, error) {
	lb, ok := v.State.Get(balancers, v.Body.Text("instanceId"))
	switch {
	case !ok || v.Body.Text("instanceType") != "BLB":
		return nil, refuseMissing("load balancer", v.Body.Text("instanceId"))
	case lb.Text("publicIp") != "":
		return nil, rest.Refuse(http.StatusConflict, "InstanceHasBoundEip", "The load balancer %s has the EIP %s.", lb.Text("id"), lb.Text("publicIp"))
	}
	err := v.atRest(lb)
	if err == nil {
		err = v.bind(v.Params["eip"], lb.Text("id"))
	}
	if err != nil {
		return nil, err
	}
	v.State.Put(balancers, lb.With(rest.Object{"publicIp": v.Params["eip"]}))
	v.begin(balancers, lb.Text("id"), updating)
	return rest.Object{}, nil
}

func unbindAddress(v *visit) (any, error) {
	a, ok := v.State.Get(addresses, v.Params["eip"])
	switch {
	case !ok:
		return nil, rest.Refuse(http.StatusNotFound, "EipNotFound", "The EIP %s does not exist.", v.Params["eip"])
	case a.Text("status") != bound:
		return nil, rest.Refuse(http.StatusConflict, "EipStatusException", "The EIP %s is %s.", a.Text("id"), a.Text("status"))
	}
	if lb, ok := v.State.Get(balancers, a.Text("instanceId")); ok {
		if err := v.atRest(lb); err != nil {
			return nil, err
		}
		v.State.Put(balancers, lb.With(rest.Object{"publicIp": ""}))
		v.begin(balancers, lb.Text("id"), updating)
	}
	v.State.Put(addresses, a.With(rest.Object{"instanceType": "", "instanceId": ""}))
	v.begin(addresses, a.Text("id"), unbinding)
	return rest.Object{}, nil
}

func resizeAddress(v *visit) (any, error) {
	a, ok := v.State.Get(addresses, v.Params["eip"])
	if !ok {
		return nil, rest.Refuse(http.StatusNotFound, "EipNotFound", "The EIP %s does not exist.", v.Params["eip"])
	}
	v.State.Put(addresses, a.With(rest.Object{"bandwidthInMbps": numberOf(v.Body, "newBandwidthInMbps", 0)}))
	return rest.Object{}, nil
}

// deleteAddress deletes a public address that nothing is bound to and that is not prepaid.
func deleteAddress(v *visit) (any, error) {
	a, err := v.free(v.Params["eip"])
	if err != nil {
		return nil, err
	}
	if a.Text("paymentTiming") == "Prepaid" {
		return nil, rest.Refuse(http.StatusForbidden, "OperationDenied", "The EIP %s is prepaid.", a.Text("id"))
	}
	v.State.Drop(addresses, a.Text("id"))
	return rest.Object{}, nil
}
