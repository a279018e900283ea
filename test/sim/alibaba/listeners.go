package alibaba

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// listListeners answers the listeners of load balancers in pages.
func listListeners(v *visit) (any, error) {
	var all []rest.Object
	for _, id := range v.members("LoadBalancerId") {
		if _, err := v.balancer(id); err != nil {
			return nil, err
		}
		if _, busy := v.State.until[id]; busy && v.cloud.opt.BusyReads {
			return nil, refuseBusy("")
		}
		all = append(all, v.State.Having(listeners, owner, id)...)
	}
	size := v.number("MaxResults")
	if size < 1 || size > mostPage {
		size = 20
	}
	from, _ := strconv.Atoi(v.text("NextToken"))
	items := []any{}
	for _, l := range all[min(from, len(all)):min(from+size, len(all))] {
		out := l.Without("id", "settings")
		if ids := l.Text("AclId"); ids != "" {
			out["AclIds"] = rest.Anys(strings.Split(ids, ","))
		}
		out[strings.ToUpper(l.Text("ListenerProtocol"))+"ListenerConfig"] = l.Object("settings")
		items = append(items, out)
	}
	answer := answerDone(rest.Object{"Listeners": items, "MaxResults": size, "TotalCount": len(all)})
	if from+size < len(all) {
		answer["NextToken"] = strconv.Itoa(from + size)
	}
	return answer, nil
}

// listenerID names a listener: a port has one of TCP, HTTP or HTTPS, and one of UDP.
func listenerID(lb, protocol string, port int) string {
	if protocol != "udp" {
		protocol = "tcp"
	}
	return lb + "/" + protocol + "/" + strconv.Itoa(port)
}

// createListener returns the creation of a listener of a protocol, which is stopped at first.
func createListener(protocol string) func(v *visit, lb rest.Object) (any, error) {
	return func(v *visit, lb rest.Object) (any, error) {
		port := v.number("ListenerPort")
		id := listenerID(lb.Text("id"), protocol, port)
		if port < 1 || port > 65535 {
			return nil, refuseInvalid("ListenerPort", "%q is not a port", v.text("ListenerPort"))
		}
		if _, taken := v.State.Get(listeners, id); taken {
			return nil, rest.Refuse(http.StatusBadRequest, "ListenerAlreadyExists", "There is already a listener with the port %d.", port)
		}
		if n := len(v.State.Having(listeners, owner, lb.Text("id"))); n >= v.cloud.opt.Limits.Listeners {
			return nil, rest.Refuse(http.StatusBadRequest, "QuotaLimitExceeds.Listener", "The quota of %d listeners is exceeded.", n)
		}
		for _, name := range requiredParams(protocol) {
			if v.text(name) == "" {
				return nil, rest.Refuse(http.StatusBadRequest, "MissingParameter", "The input parameter %s that is mandatory for processing this request is not supplied.", name)
			}
		}
		l := rest.Object{
			"id": id, owner: lb.Text("id"), "ListenerPort": port, "ListenerProtocol": protocol, "Status": "stopped", "BackendServerPort": 0,
			"Scheduler": "wrr", "Bandwidth": -1, "AclStatus": "off", "settings": standardParams(protocol),
		}
		// Without it the official controller creates the listener again in each run. Source: API of SLB,
		// DescribeLoadBalancerListeners; kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1/listeners.go.
		if protocol == "http" {
			l.Object("settings")["ListenerForward"] = "off"
		}
		next, err := v.fillListener(lb, l, v.text("VServerGroupId") != "", true)
		if err != nil {
			return nil, err
		}
		if protocol == "http" && v.text("ListenerForward") == "on" {
			if next, err = v.forward(lb, next); err != nil {
				return nil, err
			}
		}
		v.State.Put(listeners, next)
		return answerDone(nil), nil
	}
}

// forward makes a listener of HTTP redirect to an existing one of HTTPS.
func (v *visit) forward(lb, l rest.Object) (rest.Object, error) {
	port := v.number("ForwardPort")
	to, ok := v.State.Get(listeners, listenerID(lb.Text("id"), "https", port))
	if !ok || to.Text("ListenerProtocol") != "https" {
		return nil, rest.Refuse(http.StatusBadRequest, "InvalidParameter.ForwardPort", "The listener of HTTPS with the port %d does not exist.", port)
	}
	if l.Text("VServerGroupId") != "" {
		return nil, refuseInvalid("VServerGroupId", "a listener that redirects has none")
	}
	return l.With(rest.Object{"settings": l.Object("settings").With(rest.Object{"ListenerForward": "on", "ForwardPort": port, "ForwardCode": 301})}), nil
}

// requiredParams returns parameters without which no listener of a protocol is created.
func requiredParams(protocol string) []string {
	switch protocol {
	case "http":
		return []string{"StickySession", "HealthCheck"}
	case "https":
		return []string{"StickySession", "HealthCheck", "ServerCertificateId"}
	}
	return nil
}

// fillListener returns a listener with the parameters of the call.
func (v *visit) fillListener(lb, l rest.Object, grouped, creates bool) (rest.Object, error) {
	next := l.With(nil)
	if grouped {
		g, ok := v.State.Get(groups, v.text("VServerGroupId"))
		if !ok || g.Text(owner) != lb.Text("id") {
			return nil, refuseMissing("VServerGroupId", v.text("VServerGroupId"))
		}
		next["VServerGroupId"] = g.Text("id")
	}
	if text := v.text("Description"); text != "" {
		if err := v.checkName("Description", text); err != nil {
			return nil, err
		}
		next["Description"] = text
	}
	settings, err := v.parameters(l.Text("ListenerProtocol"), l.Object("settings"), creates)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"Scheduler", "Bandwidth", "AclStatus", "AclType", "AclId"} { // which the list shows beside the others
		if value, ok := settings[name]; ok {
			next[name] = value
		}
	}
	next["settings"] = settings.Without("Scheduler", "Bandwidth", "AclStatus", "AclType", "AclId")
	if next.Text("AclStatus") == "on" && (next.Text("AclId") == "" || next.Text("AclType") == "") {
		return nil, refuseInvalid("AclId", "is missing, or AclType is")
	}
	return next, nil
}

// listener returns the listener of the call.
func (v *visit) listener(lb rest.Object, protocol string) (rest.Object, error) {
	l, ok := v.State.Get(listeners, listenerID(lb.Text("id"), protocol, v.number("ListenerPort")))
	if !ok || protocol != "" && l.Text("ListenerProtocol") != protocol {
		return nil, rest.Refuse(http.StatusNotFound, "InvalidParameter.ListenerNotExist", "The specified listener does not exist.")
	}
	return l, nil
}

func setListener(protocol string) func(v *visit, lb rest.Object) (any, error) {
	return func(v *visit, lb rest.Object) (any, error) {
		l, err := v.listener(lb, protocol)
		if err != nil {
			return nil, err
		}
		next, err := v.fillListener(lb, l, v.text("VServerGroup") == "on", false)
		if err != nil {
			return nil, err
		}
		v.State.Put(listeners, next)
		return answerDone(nil), nil
	}
}

func startListener(v *visit, lb rest.Object) (any, error) { return v.setStatus(lb, "running") }
func stopListener(v *visit, lb rest.Object) (any, error)  { return v.setStatus(lb, "stopped") }

func (v *visit) setStatus(lb rest.Object, status string) (any, error) {
	l, err := v.listener(lb, v.text("ListenerProtocol"))
	if err != nil {
		return nil, err
	}
	v.State.Put(listeners, l.With(rest.Object{"Status": status}))
	return answerDone(nil), nil
}

func deleteListener(v *visit, lb rest.Object) (any, error) {
	l, err := v.listener(lb, v.text("ListenerProtocol"))
	if err != nil {
		return nil, err
	}
	for _, other := range v.State.Having(listeners, owner, lb.Text("id")) {
		port, _ := other.Object("settings").Number("ForwardPort")
		if port > 0 && port == v.number("ListenerPort") && l.Text("ListenerProtocol") == "https" {
			return nil, rest.Refuse(http.StatusBadRequest, "OperationFailed.ListenerIsForwarded", "The listener %s redirects to the listener.", other.Text("id"))
		}
	}
	for _, d := range v.State.Having(domains, "listener", l.Text("id")) {
		v.State.Drop(domains, d.Text("id"))
	}
	v.State.Drop(listeners, l.Text("id"))
	return answerDone(nil), nil
}
