package kit

import (
	"net/http"
	"time"
)

// silence is the idle time after which a connection is probed, and signOfLife the time
// limit of the answer. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/azclient/utils/transport.go.
const silence, signOfLife = 30 * time.Second, 15 * time.Second

// KeptConnections is the number of idle connections per host: enough for many
// Services at once.
const KeptConnections = 64

// Transport returns a copy of the program's own transport for the calls of a cloud.
func Transport() *http.Transport {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		t = &http.Transport{}
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = KeptConnections
	return Alive(t)
}

// Alive makes a transport close dead HTTP/2 connections, such as behind a firewall that
// has dropped them, and returns it. All calls share such a connection, and the deadline of
// a call does not end it: it would be used until TCP gives up, after a quarter of an
// hour.
func Alive(t *http.Transport) *http.Transport {
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: signOfLife}
	return t
}
