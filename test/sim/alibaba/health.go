package alibaba

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

// unhealthy is the collection of the servers that fail their health checks, by address or instance. It exists only
// in tests that need it.
const unhealthy = "unhealthy_servers"

// SetHealthy lets the server with an address, or an instance, pass or fail its health checks.
func (c *Cloud) SetHealthy(server string, healthy bool) {
	c.Locked(func() {
		c.Live.Drop(unhealthy, server)
		if !healthy {
			c.Live.Put(unhealthy, rest.Object{"id": server})
		}
	})
}

// failsCheck reports whether a server fails its health checks.
func (v *visit) failsCheck(server rest.Object) bool {
	for _, name := range []string{server.Text("ServerIp"), server.Text("ServerId")} {
		if _, ok := v.State.Get(unhealthy, name); ok && name != "" {
			return true
		}
	}
	return false
}

// getHealth answers the health of the servers of running listeners.
// Source: API of SLB, DescribeHealthStatus.
func getHealth(v *visit, lb rest.Object) (any, error) {
	items := []any{}
	for _, l := range v.State.Having(listeners, owner, lb.Text("id")) {
		group, _ := v.State.Get(groups, l.Text("VServerGroupId"))
		settings := l.Object("settings")
		unchecked := settings.Text("HealthCheck") == "off" || settings.Text("HealthCheckSwitch") == "off"
		for _, s := range group.Objects("servers") {
			status := "normal"
			switch {
			case unchecked:
				status = "unavailable"
			case v.failsCheck(s):
				status = "abnormal"
			}
			if l.Text("Status") == "running" {
				items = append(items, s.Only("ServerId", "ServerIp", "Type", "Port").With(rest.Object{"ListenerPort": l["ListenerPort"], "Protocol": l.Text("ListenerProtocol"), "ServerHealthStatus": status}))
			}
		}
	}
	return answerDone(rest.Object{"BackendServers": rest.Object{"BackendServer": items}}), nil
}

// getNetHealth answers the servers of a listener that are not healthy.
// Source: API of NLB, GetListenerHealthStatus.
func getNetHealth(v *visit) (any, error) {
	l, ok := v.State.Get(netListeners, v.text("ListenerId"))
	if !ok {
		return nil, rest.Refuse(http.StatusNotFound, "ResourceNotFound.listener", "The specified resource of listener is not found.")
	}
	group, _ := v.State.Get(serverGroups, l.Text("ServerGroupId"))
	others := []any{}
	for _, s := range group.Objects("servers") {
		if v.failsCheck(s) {
			others = append(others, s.Only("ServerId", "ServerIp", "Port").With(rest.Object{"Status": "Unhealthy", "Reason": rest.Object{"ReasonCode": "CONNECT_TIMEOUT"}}))
		}
	}
	info := rest.Object{"ServerGroupId": group.Text("id"), "HeathCheckEnabled": group.Object("HealthCheck").Truth("HealthCheckEnabled"), "NonNormalServers": others}
	return answerDone(rest.Object{"ListenerHealthStatus": []any{rest.Object{"ListenerId": l.Text("id"), "ListenerPort": l["ListenerPort"], "ListenerProtocol": l.Text("ListenerProtocol"), "ServerGroupInfos": []any{info}}}}), nil
}
