package alibaba

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// parameter is one parameter of listeners.
type parameter struct {
	of       string // protocols
	lowest   int
	highest  int
	words    string // legal values; empty with highest 0: any text
	standard any    // of a new listener; nil: none
}

// parameterTable are the parameters of listeners. Source: API of SLB, CreateLoadBalancer*Listener.
func parameterTable() map[string]parameter {
	const all, low, high, byHTTP = "tcp udp http https", "tcp udp", "http https", "tcp http https"
	return map[string]parameter{
		"Scheduler":                   {of: all, words: "wrr wlc rr sch tch qch"},
		"Bandwidth":                   {of: all, lowest: -1, highest: 5120},
		"PersistenceTimeout":          {of: "tcp", highest: 3600, standard: 0},
		"EstablishedTimeout":          {of: "tcp", lowest: 10, highest: 900, standard: 900},
		"ConnectionDrain":             {of: low, words: "on off", standard: "off"},
		"ConnectionDrainTimeout":      {of: low, lowest: 10, highest: 900},
		"ProxyProtocolV2Enabled":      {of: low, words: "true false", standard: "false"},
		"IdleTimeout":                 {of: high, lowest: 1, highest: 60, standard: 15},
		"RequestTimeout":              {of: high, lowest: 1, highest: 180, standard: 60},
		"StickySession":               {of: high, words: "on off", standard: "off"},
		"StickySessionType":           {of: high, words: "insert server"},
		"Cookie":                      {of: high},
		"CookieTimeout":               {of: high, lowest: 1, highest: 86400},
		"XForwardedFor_proto":         {of: high, words: "on off", standard: "off"},
		"XForwardedFor_SLBPORT":       {of: high, words: "on off", standard: "off"},
		"XForwardedFor_ClientSrcPort": {of: high, words: "on off", standard: "off"},
		"ServerCertificateId":         {of: "https"},
		"TLSCipherPolicy":             {of: "https", words: "tls_cipher_policy_1_0 tls_cipher_policy_1_1 tls_cipher_policy_1_2 tls_cipher_policy_1_2_strict tls_cipher_policy_1_2_strict_with_1_3", standard: "tls_cipher_policy_1_0"},
		"EnableHttp2":                 {of: "https", words: "on off", standard: "on"},
		"HealthCheck":                 {of: high, words: "on off", standard: "off"},
		"HealthCheckSwitch":           {of: low, words: "on off", standard: "on"},
		"HealthCheckType":             {of: "tcp", words: "tcp http", standard: "tcp"},
		"HealthCheckURI":              {of: byHTTP},
		"HealthCheckConnectPort":      {of: all, lowest: -520, highest: 65535, standard: -520},
		"HealthyThreshold":            {of: all, lowest: 2, highest: 10, standard: 3},
		"UnhealthyThreshold":          {of: all, lowest: 2, highest: 10, standard: 3},
		"HealthCheckInterval":         {of: all, lowest: 1, highest: 50, standard: 2},
		"HealthCheckConnectTimeout":   {of: low, lowest: 1, highest: 300, standard: 5},
		"HealthCheckTimeout":          {of: high, lowest: 1, highest: 300, standard: 5},
		"HealthCheckDomain":           {of: byHTTP},
		"HealthCheckHttpCode":         {of: byHTTP},
		"HealthCheckMethod":           {of: high, words: "head get", standard: "head"},
		"AclStatus":                   {of: all, words: "on off"},
		"AclType":                     {of: all, words: "white black"},
		"AclId":                       {of: all},
	}
}

func (p parameter) isOf(protocol string) bool { return slices.Contains(strings.Fields(p.of), protocol) }

// standardParams returns the parameters of a new listener of a protocol.
func standardParams(protocol string) rest.Object {
	out := rest.Object{}
	for name, p := range parameterTable() {
		if p.isOf(protocol) && p.standard != nil {
			out[name] = p.standard
		}
	}
	return out
}

// parameters returns settings with the parameters of the call that the protocol has.
func (v *visit) parameters(protocol string, settings rest.Object, creates bool) (rest.Object, error) {
	out := settings.With(nil)
	for name, p := range parameterTable() {
		spelled := name
		if name == "HealthCheckInterval" && creates && p.isOf(protocol) && (protocol == "tcp" || protocol == "udp") {
			spelled = "healthCheckInterval"
		}
		text := v.text(spelled)
		if text == "" || !p.isOf(protocol) {
			continue
		}
		value, err := v.valueOf(name, text, p)
		if err != nil {
			return nil, err
		}
		out[name] = value
	}
	if out.Text("StickySession") == "on" && out.Text("StickySessionType") == "" {
		return nil, refuseInvalid("StickySessionType", "is missing")
	}
	return out, nil
}

// valueOf checks one value.
func (v *visit) valueOf(name, text string, p parameter) (any, error) {
	if p.highest > 0 {
		n, err := strconv.Atoi(text)
		if err != nil || n < p.lowest || n > p.highest {
			return nil, refuseInvalid(name, "%q is not between %d and %d", text, p.lowest, p.highest)
		}
		return n, nil
	}
	if p.words != "" && !slices.Contains(strings.Fields(p.words), text) {
		return nil, refuseInvalid(name, "%q is not one of %s", text, p.words)
	}
	if name == "AclId" {
		for id := range strings.SplitSeq(text, ",") {
			if _, ok := v.State.Get(lists, id); !ok {
				return nil, rest.Refuse(http.StatusNotFound, "AclNotExist", "The specified access control list does not exist: %s", id)
			}
		}
	}
	if name == "ServerCertificateId" {
		if _, ok := v.State.Get(certificates, text); !ok {
			return nil, refuseMissing("ServerCertificateId", text)
		}
	}
	return text, nil
}
