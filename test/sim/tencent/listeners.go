package tencent

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// mostListenerIDs is the most ids of one deletion.
const mostListenerIDs = 20

// isDatagram reports whether a protocol is over UDP: a port has one listener of each transport.
func isDatagram(protocol string) bool { return protocol == "UDP" || protocol == "QUIC" }

// isWeb reports whether a protocol has rules.
func isWeb(protocol string) bool { return protocol == "HTTP" || protocol == "HTTPS" }

// writableParams are the parameters of listeners that can change. Source: CLB API 2018-03-17, ModifyListener.
func writableParams() []string {
	return []string{"ListenerName", "SessionExpireTime", "HealthCheck", "Certificate", "Scheduler", "SniSwitch", "TargetType", "DeregisterTargetRst", "IdleConnectTimeout", "MaxConn", "MaxCps", "SnatEnable", "ProxyProtocol", "SessionType"}
}

// listListeners answers the listeners of a load balancer, with their rules.
func listListeners(v *visit) (any, error) {
	lb, err := v.balancer(v.Body.Text(owner))
	if err != nil {
		return nil, err
	}
	asked := v.Body.Texts("ListenerIds")
	items := []any{}
	for _, l := range v.State.Having(listeners, owner, lb.Text("id")) {
		if len(asked) > 0 && !slices.Contains(asked, l.Text("id")) {
			continue
		}
		out := l.Without("id", owner, "Targets")
		if isWeb(l.Text("Protocol")) {
			list := []any{}
			for _, r := range v.State.Having(rules, "ListenerId", l.Text("id")) {
				list = append(list, r.Without("id", owner, "Targets"))
			}
			out["Rules"] = list
		}
		items = append(items, out)
	}
	return v.answer(rest.Object{"Listeners": items, "TotalCount": len(items)}), nil
}

// standardHealth is the health check of a new listener or rule.
func standardHealth(protocol string) rest.Object {
	kind := "TCP"
	switch {
	case protocol == "UDP":
		kind = "PING"
	case isWeb(protocol):
		kind = "HTTP"
	}
	return rest.Object{"HealthSwitch": 1, "TimeOut": 2, "IntervalTime": 5, "HealthNum": 3, "UnHealthNum": 3, "CheckType": kind}
}

// createListeners creates a listener for each port of the call.
func createListeners(v *visit, lb rest.Object) (rest.Object, error) {
	protocol, ports, names := v.Body.Text("Protocol"), numbersOf(v.Body, "Ports"), v.Body.Texts("ListenerNames")
	switch {
	case !slices.Contains([]string{"TCP", "UDP", "HTTP", "HTTPS", "TCP_SSL", "QUIC"}, protocol):
		return nil, refuseValue("Protocol", "%q is not known", protocol)
	case len(ports) == 0, len(names) > 0 && len(names) != len(ports):
		return nil, refuseCall("InvalidParameter", "Ports and ListenerNames differ in length.")
	case len(v.State.Having(listeners, owner, lb.Text("id")))+len(ports) > v.cloud.opt.Limits.Listeners:
		return nil, refuseCall("LimitExceeded", "The quota of %d listeners is exceeded.", v.cloud.opt.Limits.Listeners)
	}
	ids := []any{}
	for i, port := range ports {
		for _, other := range v.State.Having(listeners, owner, lb.Text("id")) {
			if numberOf(other, "Port", 0) == port && isDatagram(other.Text("Protocol")) == isDatagram(protocol) {
				return nil, refuseCall("InvalidParameter.PortCheckFailed", "The port %d is taken by the listener %s.", port, other.Text("id"))
			}
		}
		id := v.State.id("lbl-")
		l := rest.Object{
			"id": id, owner: lb.Text("id"), "ListenerId": id, "ListenerName": "", "Protocol": protocol, "Port": port, "SniSwitch": 0, "Targets": []any{}, "EndPort": 0,
			"CreateTime": v.Time.UTC().Format(timeFormat), "TargetType": "NODE", "DeregisterTargetRst": false,
		}
		if !isWeb(protocol) {
			l = l.With(rest.Object{"Scheduler": "WRR", "SessionExpireTime": 0, "HealthCheck": standardHealth(protocol)})
		}
		if i < len(names) {
			l["ListenerName"] = names[i]
		}
		next, err := v.fill(l, protocol)
		if err != nil {
			return nil, err
		}
		if c := next.Object("Certificate").Text("CertId"); c == "" && (protocol == "TCP_SSL" || protocol == "QUIC" || protocol == "HTTPS" && numberOf(next, "SniSwitch", 0) == 0) {
			return nil, refuseCall("MissingParameter", "A listener of %s needs a certificate.", protocol)
		}
		v.State.Put(listeners, next)
		ids = append(ids, id)
	}
	return rest.Object{"ListenerIds": ids}, nil
}

// fill returns a listener or a rule with the parameters of the call.
func (v *visit) fill(o rest.Object, protocol string) (rest.Object, error) {
	return v.fillFrom(v.Body, o, protocol)
}

func (v *visit) fillFrom(from, o rest.Object, protocol string) (rest.Object, error) {
	next := o.With(from.Only(writableParams()...))
	if health := from.Object("HealthCheck"); health != nil {
		next["HealthCheck"] = o.Object("HealthCheck").With(health)
	}
	health, session := next.Object("HealthCheck"), numberOf(next, "SessionExpireTime", 0)
	_, reset := from["DeregisterTargetRst"]
	kind := from.Object("HealthCheck").Text("CheckType")
	switch {
	case next.Text("Scheduler") != "" && !slices.Contains([]string{"WRR", "LEAST_CONN", "IP_HASH"}, next.Text("Scheduler")):
		return nil, refuseValue("Scheduler", "%q is not known", next.Text("Scheduler"))
	case session != 0 && (session < 30 || session > 86400):
		return nil, refuseValue("SessionExpireTime", "%d is not 0 or 30 to 86400", session)
	case protocol == "UDP" && reset:
		return nil, refuseCall("InvalidParameter", "DeregisterTargetRst is not possible for UDP.")
	case protocol == "UDP" && from.Object("HealthCheck") != nil && numberOf(health, "HealthSwitch", 1) == 1 && kind != "CUSTOM" && kind != "PING":
		return nil, refuseValue("HealthCheck.CheckType", "a listener of UDP needs CUSTOM or PING")
	case health.Text("CheckType") == "HTTP" && !isWeb(protocol) && health.Text("HttpCheckDomain") == "":
		return nil, refuseCall("InvalidParameter", "HttpCheckDomain can't be None.")
	case numberOf(health, "TimeOut", 2) >= numberOf(health, "IntervalTime", 5):
		return nil, refuseValue("HealthCheck.TimeOut", "is not less than IntervalTime")
	}
	for name, most := range map[string]int{"HealthNum": 10, "UnHealthNum": 10, "TimeOut": 60} {
		if n := numberOf(health, name, 3); health != nil && (n < 2 || n > most) {
			return nil, refuseValue("HealthCheck."+name, "%d is not between 2 and %d", n, most)
		}
	}
	if c := from.Object("Certificate").Text("CertId"); c != "" {
		if _, ok := v.State.Get(certificates, c); !ok {
			return nil, refuseCall("InvalidParameterValue", "The certificate %s is not found.", c)
		}
	}
	return next, nil
}

func (v *visit) listener(lb rest.Object, id string) (rest.Object, error) {
	l, ok := v.State.Get(listeners, id)
	if !ok || l.Text(owner) != lb.Text("id") {
		return nil, refuseCall("InvalidParameter.ListenerIdNotFound", "The listener %s is not found.", id)
	}
	return l, nil
}

func setListener(v *visit, lb rest.Object) (rest.Object, error) {
	l, err := v.listener(lb, v.Body.Text("ListenerId"))
	if err != nil {
		return nil, err
	}
	next, err := v.fill(l, l.Text("Protocol"))
	if err != nil {
		return nil, err
	}
	v.State.Put(listeners, next)
	return nil, nil
}

// deleteListeners deletes listeners with their rules: all of them if the call names none.
func deleteListeners(v *visit, lb rest.Object) (rest.Object, error) {
	ids := v.Body.Texts("ListenerIds")
	if len(ids) > mostListenerIDs {
		return nil, refuseCall("InvalidParameterValue.Length", "ListenerIds has more than %d ids.", mostListenerIDs)
	}
	if len(ids) == 0 {
		for _, l := range v.State.Having(listeners, owner, lb.Text("id")) {
			ids = append(ids, l.Text("id"))
		}
	}
	for _, id := range ids {
		if _, err := v.listener(lb, id); err != nil {
			return nil, err
		}
		for _, r := range v.State.Having(rules, "ListenerId", id) {
			v.State.Drop(rules, r.Text("id"))
		}
		v.State.Drop(listeners, id)
	}
	return nil, nil
}

// createRules creates rules of a listener of HTTP or HTTPS.
func createRules(v *visit, lb rest.Object) (rest.Object, error) {
	l, err := v.listener(lb, v.Body.Text("ListenerId"))
	switch {
	case err != nil:
		return nil, err
	case !isWeb(l.Text("Protocol")):
		return nil, refuseCall("InvalidParameter.ProtocolCheckFailed", "A listener of %s has no rules.", l.Text("Protocol"))
	}
	ids := []any{}
	for _, given := range v.Body.Objects("Rules") {
		domain, url := given.Text("Domain"), given.Text("Url")
		if domain == "" || !strings.HasPrefix(url, "/") {
			return nil, refuseValue("Rules", "a rule needs a domain and a path")
		}
		for _, other := range v.State.Having(rules, "ListenerId", l.Text("id")) {
			if other.Text("Domain") == domain && other.Text("Url") == url {
				return nil, refuseCall("InvalidParameterValue.Duplicate", "The rule %s%s exists.", domain, url)
			}
		}
		id := v.State.id("loc-")
		r := rest.Object{
			"id": id, owner: lb.Text("id"), "ListenerId": l.Text("id"), "LocationId": id, "Domain": domain, "Url": url, "Targets": []any{},
			"Scheduler": "WRR", "SessionExpireTime": 0, "HealthCheck": standardHealth(l.Text("Protocol")),
		}
		next, err := v.fillFrom(given, r, l.Text("Protocol"))
		if err != nil {
			return nil, err
		}
		if l.Text("Protocol") == "HTTPS" && next.Object("Certificate").Text("CertId") == "" && l.Object("Certificate").Text("CertId") == "" {
			return nil, refuseCall("MissingParameter", "The domain %s needs a certificate.", domain)
		}
		v.State.Put(rules, next)
		ids = append(ids, id)
	}
	return rest.Object{"LocationIds": ids}, nil
}

func (v *visit) rule(lb rest.Object, id string) (rest.Object, error) {
	r, ok := v.State.Get(rules, id)
	if !ok || r.Text(owner) != lb.Text("id") {
		return nil, refuseCall("InvalidParameter.LocationNotFound", "The rule %s is not found.", id)
	}
	return r, nil
}

func setRule(v *visit, lb rest.Object) (rest.Object, error) {
	r, err := v.rule(lb, v.Body.Text("LocationId"))
	if err != nil {
		return nil, err
	}
	next, err := v.fillFrom(v.Body.Without("Certificate"), r, "HTTP")
	if err != nil {
		return nil, err
	}
	v.State.Put(rules, next)
	return nil, nil
}

// setDomain changes the certificate of a domain of a listener.
func setDomain(v *visit, lb rest.Object) (rest.Object, error) {
	l, err := v.listener(lb, v.Body.Text("ListenerId"))
	if err != nil {
		return nil, err
	}
	found := false
	for _, r := range v.State.Having(rules, "ListenerId", l.Text("id")) {
		if r.Text("Domain") != v.Body.Text("Domain") {
			continue
		}
		next, err := v.fillFrom(v.Body.Only("Certificate"), r, l.Text("Protocol"))
		if err != nil {
			return nil, err
		}
		v.State.Put(rules, next)
		found = true
	}
	if !found {
		return nil, refuseCall("InvalidParameter.LocationNotFound", "The domain %s is not found.", v.Body.Text("Domain"))
	}
	return nil, nil
}

func deleteRules(v *visit, lb rest.Object) (rest.Object, error) {
	ids := v.Body.Texts("LocationIds")
	if len(ids) == 0 {
		return nil, refuseCall("MissingParameter", "LocationIds is missing.")
	}
	for _, id := range ids {
		if _, err := v.rule(lb, id); err != nil {
			return nil, err
		}
		v.State.Drop(rules, id)
	}
	return nil, nil
}
