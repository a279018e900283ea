package alibaba

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/rest"
)

// netListenerParams are the parameters of listeners. Source: API of NLB, CreateListener.
func netListenerParams() map[string]parameter {
	return map[string]parameter{
		"IdleTimeout": {lowest: 10, highest: 900, standard: 900}, "Cps": {lowest: 0, highest: 1000000, standard: 0}, "ProxyProtocolEnabled": {words: "true false", standard: false},
		"SecurityPolicyId": {}, "CaEnabled": {words: "true false", standard: false}, "AlpnEnabled": {words: "true false", standard: false},
		"AlpnPolicy": {words: "HTTP1Only HTTP2Only HTTP2Preferred HTTP2Optional"},
	}
}

func listNetListeners(v *visit) (any, error) {
	ids, of := v.members("ListenerIds"), v.members("LoadBalancerIds")
	all := v.State.All(netListeners, func(o rest.Object) bool {
		return v.isAsked(o, ids) && (len(of) == 0 || slices.Contains(of, o.Text(owner)))
	})
	return v.pageNet("Listeners", all, func(o rest.Object) rest.Object { return o.Without("id", "more") })
}

// transportOfNet returns the transport of a protocol: a port has one listener of each.
func transportOfNet(protocol string) string {
	if protocol == "UDP" {
		return "UDP"
	}
	return "TCP"
}

// netPorts returns the ports of a listener.
func netPorts(l rest.Object) (first, last int) {
	if port, _ := l.Number("ListenerPort"); port > 0 {
		return port, port
	}
	first, _ = strconv.Atoi(l.Text("StartPort"))
	last, _ = strconv.Atoi(l.Text("EndPort"))
	return first, last
}

func createNetListener(v *visit) (any, error) {
	lb, err := v.net(true)
	if err != nil {
		return nil, err
	}
	id := v.State.id("lsn-")
	l := rest.Object{
		"id": id, "ListenerId": id, owner: lb.Text("id"), "ListenerPort": v.number("ListenerPort"),
		"CertificateIds": []any{}, "CaCertificateIds": []any{}, "ProxyProtocolV2Config": rest.Object{}, "more": []any{},
	}
	// A listener of one port has neither. Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/nlb/listener.go.
	for _, name := range []string{"StartPort", "EndPort"} {
		if v.text(name) != "" {
			l[name] = v.text(name)
		}
	}
	if l["ListenerProtocol"], err = v.foldedWord("ListenerProtocol", "TCP", "UDP", "TCPSSL"); err != nil {
		return nil, err
	}
	for name, p := range netListenerParams() {
		if p.standard != nil {
			l[name] = p.standard
		}
	}
	if err := v.checkPlace(lb, l); err != nil {
		return nil, err
	}
	if err := v.fillNetListener(l); err != nil {
		return nil, err
	}
	if l.Text("ServerGroupId") == "" {
		return nil, rest.Refuse(http.StatusBadRequest, "MissingParam.ServerGroupId", "The param of ServerGroupId is missing.")
	}
	if l.Text("ListenerProtocol") == "TCPSSL" && len(l.List("CertificateIds")) == 0 {
		return nil, rest.Refuse(http.StatusBadRequest, "MissingParam.CertificateIds", "The param of CertificateIds is missing.")
	}
	jobID := v.lockNet(lb, func(s *state) { s.Change(netListeners, id, rest.Object{"ListenerStatus": running}) }, func(s *state) { s.Drop(netListeners, id) })
	v.State.Put(netListeners, l.With(rest.Object{"ListenerStatus": "Provisioning"}))
	v.State.endJobs(v.Time)
	return answerDone(rest.Object{"ListenerId": id, "JobId": jobID}), nil
}

// lockNet starts a job that changes a part of a load balancer, which accepts nothing else meanwhile.
func (v *visit) lockNet(lb rest.Object, done, failed func(*state)) string {
	if v.Breaks {
		done = failed
	}
	takes := v.cloud.opt.Jobs
	if takes == 0 {
		takes = 1 // the part is stored first
	}
	id := v.begin(nets, lb, lb, "LoadBalancerStatus", configuring, active, takes)
	j := v.State.jobs[id]
	j.part = done
	if v.cloud.opt.Jobs == 0 {
		j.due = v.Time
	}
	v.State.jobs[id] = j
	return id
}

// checkPlace refuses a listener whose ports another one has.
func (v *visit) checkPlace(lb, l rest.Object) error {
	first, last := netPorts(l)
	if first < 1 || last > 65535 || first > last {
		return refuseInvalid("ListenerPort", "%d to %d are no ports", first, last)
	}
	others := v.State.Having(netListeners, owner, lb.Text("id"))
	for _, other := range others {
		from, to := netPorts(other)
		if transportOfNet(other.Text("ListenerProtocol")) == transportOfNet(l.Text("ListenerProtocol")) && first <= to && from <= last {
			return rest.Refuse(http.StatusBadRequest, "ResourceAlreadyExist.Listener", "The listener %s has the port %d.", other.Text("id"), from)
		}
	}
	if len(others) >= mostNetListeners {
		return rest.Refuse(http.StatusBadRequest, "QuotaExceeded.ListenersNum", "The quota of %d listeners is exceeded.", mostNetListeners)
	}
	return nil
}

// fillNetListener enters the parameters of the call into a listener.
func (v *visit) fillNetListener(l rest.Object) error {
	params, err := v.checkedParams(netListenerParams())
	if err != nil {
		return err
	}
	for name, value := range params {
		l[name] = value
	}
	if text := v.text("ListenerDescription"); text != "" {
		if n := len([]rune(text)); n < 2 || n > mostDescription {
			return refuseInvalid("ListenerDescription", "has %d characters", n)
		}
		l["ListenerDescription"] = text
	}
	if id := v.text("ServerGroupId"); id != "" {
		group, err := v.serverGroup(id)
		if err != nil {
			return err
		}
		if !transportFits(l.Text("ListenerProtocol"), group.Text("Protocol")) {
			return refuseInvalid("ServerGroupId", "a group of %s serves no listener of %s", group.Text("Protocol"), l.Text("ListenerProtocol"))
		}
		l["ServerGroupId"] = id
	}
	for _, name := range []string{"CertificateIds", "CaCertificateIds"} {
		if ids := v.members(name); len(ids) > 0 {
			if err := v.checkCertificates(ids); err != nil {
				return err
			}
			l[name] = rest.Anys(ids)
		}
	}
	if text := v.text("ProxyProtocolV2Config"); text != "" {
		given := rest.Object{}
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return refuseInvalid("ProxyProtocolV2Config", "%v", err)
		}
		l["ProxyProtocolV2Config"] = l.Object("ProxyProtocolV2Config").With(given)
	}
	return nil
}

func transportFits(listener, group string) bool { return listener == group }

func (v *visit) checkCertificates(ids []string) error {
	for _, id := range ids {
		if _, ok := v.State.Get(certificates, id); !ok {
			return rest.Refuse(http.StatusNotFound, "ResourceNotFound.Certificate", "The specified certificate is not found: %s.", id)
		}
	}
	return nil
}

// ofNetListener runs a write about one listener of a load balancer that is at rest.
func ofNetListener(run func(v *visit, l rest.Object) (rest.Object, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		l, ok := v.State.Get(netListeners, v.text("ListenerId"))
		if !ok {
			return nil, rest.Refuse(http.StatusNotFound, "ResourceNotFound.listener", "The specified resource of listener is not found.")
		}
		v.query.Set("LoadBalancerId", l.Text(owner))
		lb, err := v.net(true)
		if err != nil {
			return nil, err
		}
		next, err := run(v, l)
		if err != nil {
			return nil, err
		}
		id := l.Text("id")
		jobID := v.lockNet(lb, func(s *state) {
			if next == nil {
				s.Drop(netListeners, id)
				return
			}
			s.Put(netListeners, next)
		}, func(*state) {})
		v.State.endJobs(v.Time)
		return answerDone(rest.Object{"JobId": jobID}), nil
	}
}

func setNetListener(v *visit, l rest.Object) (rest.Object, error) {
	next := l.With(nil)
	return next, v.fillNetListener(next)
}

func startNetListener(_ *visit, l rest.Object) (rest.Object, error) {
	return l.With(rest.Object{"ListenerStatus": running}), nil
}

func stopNetListener(_ *visit, l rest.Object) (rest.Object, error) {
	return l.With(rest.Object{"ListenerStatus": "Stopped"}), nil
}

func deleteNetListener(*visit, rest.Object) (rest.Object, error) { return nil, nil }

func addCertificates(v *visit, l rest.Object) (rest.Object, error) {
	ids := v.members("AdditionalCertificateIds")
	return l.With(rest.Object{"more": rest.Anys(append(l.Texts("more"), ids...))}), v.checkCertificates(ids)
}

func removeCertificates(v *visit, l rest.Object) (rest.Object, error) {
	gone := v.members("AdditionalCertificateIds")
	return l.With(rest.Object{"more": rest.Anys(slices.DeleteFunc(l.Texts("more"), func(id string) bool { return slices.Contains(gone, id) }))}), nil
}

func listNetCertificates(v *visit) (any, error) {
	l, ok := v.State.Get(netListeners, v.text("ListenerId"))
	if !ok {
		return nil, rest.Refuse(http.StatusNotFound, "ResourceNotFound.listener", "The specified resource of listener is not found.")
	}
	var all []rest.Object
	for _, id := range l.Texts("CertificateIds") {
		all = append(all, rest.Object{"CertificateId": id, "IsDefault": true, "Status": "Associated"})
	}
	for _, id := range l.Texts("more") {
		all = append(all, rest.Object{"CertificateId": id, "IsDefault": false, "Status": "Associated"})
	}
	return v.pageNet("Certificates", all, func(o rest.Object) rest.Object { return o })
}
