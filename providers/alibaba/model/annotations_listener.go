package model

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
)

// setting is a key whose value is a parameter of listeners.
type setting struct {
	key   annotations.Declaration
	param string // by the name of the API
	of    []string
	read  func(*annotations.Bag) (value string, origin annotations.Origin, given bool)
}

// settingOf returns a setting for listeners of some protocols.
func settingOf[T any](key *annotations.Key[T], param string, of []string) setting {
	return setting{key: key, param: param, of: of, read: func(b *annotations.Bag) (string, annotations.Origin, bool) {
		value, origin, given := key.Lookup(b)
		return fmt.Sprint(value), origin, given
	}}
}

// unlessZero is a setting whose value 0 counts as none.
func unlessZero(s setting) setting {
	read := s.read
	s.read = func(b *annotations.Bag) (string, annotations.Origin, bool) {
		value, origin, given := read(b)
		return value, origin, given && value != "0"
	}
	return s
}

// onlyWith is a setting that counts as none where another key does not ask for it.
func onlyWith(asked func(*annotations.Bag) bool, s setting) setting {
	read := s.read
	s.read = func(b *annotations.Bag) (string, annotations.Origin, bool) {
		value, origin, given := read(b)
		return value, origin, given && asked(b)
	}
	return s
}

// isOn returns a condition that a key is on.
func isOn(key *annotations.Key[string]) func(*annotations.Bag) bool {
	return func(b *annotations.Bag) bool { return strings.EqualFold(key.Get(b), on) }
}

// portOfBackend is the port of a health check that is the backend's.
// Source: API of SLB, CreateLoadBalancerTCPListener.
const portOfBackend = -520

// orNothing accepts 0, which is as if the key were not given, and some numbers outside of the range.
func orNothing(k *annotations.Key[int], more ...int) *annotations.Key[int] {
	ranged := k.Forms[0].Type
	legal := ranged.Legal() + ", or 0 as without the key"
	for _, n := range more {
		legal = fmt.Sprintf("%d for %s, or %s", n, k.Forms[0].DefaultDoc, legal)
	}
	k.Forms[0].Type = annotations.Int().Checked(func(value int) error {
		if value == 0 || slices.Contains(more, value) {
			return nil
		}
		_, err := ranged.Parse(strconv.Itoa(value))
		return err
	}).Legally(legal)
	return k
}

func allProtocols() []string { return []string{tcp, udp, http, https} }
func layer4() []string       { return []string{tcp, udp} }
func layer7() []string       { return []string{http, https} }

// listenerSettings is the table of keys that are parameters of listeners.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1/listeners.go.
func listenerSettings() []setting {
	return []setting{
		settingOf(schedulerKey, "Scheduler", allProtocols()),
		settingOf(persistenceKey, "PersistenceTimeout", []string{tcp}),
		unlessZero(settingOf(establishedKey, "EstablishedTimeout", []string{tcp})),
		settingOf(drainKey, "ConnectionDrain", layer4()),
		onlyWith(isOn(drainKey), settingOf(drainTimeoutKey, "ConnectionDrainTimeout", layer4())),
		settingOf(proxyKey, "ProxyProtocolV2Enabled", layer4()),
		settingOf(idleKey, "IdleTimeout", layer7()),
		settingOf(requestKey, "RequestTimeout", layer7()),
		settingOf(stickyKey, "StickySession", layer7()),
		settingOf(stickyTypeKey, "StickySessionType", layer7()),
		settingOf(cookieKey, "Cookie", layer7()),
		settingOf(cookieTimeoutKey, "CookieTimeout", layer7()),
		settingOf(forwardedProtoKey, "XForwardedFor_proto", layer7()),
		settingOf(forwardedPortKey, "XForwardedFor_SLBPORT", layer7()),
		settingOf(forwardedSourceKey, "XForwardedFor_ClientSrcPort", layer7()),
		settingOf(certificateKey, "ServerCertificateId", []string{https}),
		settingOf(cipherKey, "TLSCipherPolicy", []string{https}),
		settingOf(http2Key, "EnableHttp2", []string{https}),
		settingOf(healthFlagKey, "HealthCheck", layer7()),
		settingOf(healthSwitchKey, "HealthCheckSwitch", layer4()),
		settingOf(healthTypeKey, "HealthCheckType", []string{tcp}),
		settingOf(healthURIKey, "HealthCheckURI", []string{tcp, http, https}),
		unlessZero(settingOf(healthPortKey, "HealthCheckConnectPort", allProtocols())),
		settingOf(healthyKey, "HealthyThreshold", allProtocols()),
		settingOf(unhealthyKey, "UnhealthyThreshold", allProtocols()),
		settingOf(intervalKey, "HealthCheckInterval", allProtocols()),
		settingOf(connectTimeoutKey, "HealthCheckConnectTimeout", layer4()),
		settingOf(healthTimeoutKey, "HealthCheckTimeout", layer7()),
		settingOf(healthDomainKey, "HealthCheckDomain", []string{tcp, http, https}),
		settingOf(healthCodesKey, "HealthCheckHttpCode", []string{tcp, http, https}),
		settingOf(healthMethodKey, "HealthCheckMethod", layer7()),
		settingOf(accessKey, paramAccess, allProtocols()),
		onlyWith(isOn(accessKey), settingOf(listsKey, paramLists, allProtocols())),
		onlyWith(isOn(accessKey), settingOf(listTypeKey, paramListType, allProtocols())),
	}
}

// Keys of listeners.
var (
	protocolKey = &annotations.Key[map[int32]string]{
		Name: prefix + "protocol-port", Aliases: []string{oldPrefix + "protocol-port"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupListener, Example: "https:443,http:80",
		Doc: "Protocols of listeners, by port.",
		Forms: []annotations.Form[map[int32]string]{{
			Type: annotations.Custom("protocols", "tcp, udp, http or https with a port, separated by commas: https:443,http:80", parseProtocols), DefaultDoc: "the protocol of the port of the Service",
			Kinds: []string{CLB}, Empty: annotations.EmptyAbsent, Change: annotations.Brief, Source: source,
		}, {
			Type: annotations.Custom("protocols", "tcp, udp or tcpssl with a port, separated by commas: tcpssl:443", parseNetProtocols), DefaultDoc: "the protocol of the port of the Service",
			Kinds: []string{NLB}, Empty: annotations.EmptyAbsent, Change: annotations.Brief, Source: sourceNet,
		}},
	}
	schedulerKey = onBoth(annotations.Staying(wordKey("scheduler", groupListener, annotations.InPlace, "How a listener chooses a backend; tch and qch for TCP and UDP only.", "rr", "rr", "wrr", "wlc", "sch", "tch", "qch")), anyCase("rr", "wrr", "wlc", "sch", "tch", "qch"))

	persistenceKey  = onClassic(annotations.Staying(numberKey("persistence-timeout", groupListener, "1800", "Sends a client to the same backend for this long, in seconds; 0 does not.", 0, 3600, "0")))
	establishedKey  = onClassic(annotations.Staying(orNothing(numberKey("established-timeout", groupListener, "300", "Closes connections that are idle for this long, in seconds.", 10, 900, "900"))))
	drainKey        = onBoth(annotations.Staying(wordKey("connection-drain", groupListener, annotations.InPlace, "Whether connections to a removed backend end by themselves.", "off", on, off)), anyCase(on, off))
	drainTimeoutKey = onBoth(annotations.Staying(annotations.Needing(numberKey("connection-drain-timeout", groupListener, "60", "How long connections to a removed backend may last, in seconds.", 10, 900, "that of the cloud"), annotations.Need{drainKey.Is(on)})), func(f *annotations.Form[int]) {
		f.Type, f.Needs = annotations.IntRange(0, 900), []annotations.Need{{drainKey.Is(on)}}
	})
	proxyKey = onBoth(&annotations.Key[bool]{
		Name: prefix + "proxy-protocol", Aliases: []string{oldPrefix + "proxy-protocol"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupListener, Example: on,
		Doc: "Sends backends the address of the client by version 2 of the PROXY protocol.",
		Forms: []annotations.Form[bool]{{
			Type: annotations.BoolWords([]string{on}, []string{off}, false), DefaultDoc: "off", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Removal: annotations.Stays, Source: source,
		}},
	}, func(f *annotations.Form[bool]) { f.Type = annotations.BoolWords([]string{on}, []string{off}, true) })

	idleKey            = onBoth(annotations.Staying(numberKey("idle-timeout", groupListener, "30", "Closes idle connections of HTTP and HTTPS after this long, in seconds.", 1, 60, "15")), inRange(10, 900, "900"))
	requestKey         = onClassic(annotations.Staying(numberKey("request-timeout", groupListener, "90", "How long a backend may take for an answer of HTTP and HTTPS, in seconds.", 1, 180, "60")))
	stickyKey          = onClassic(annotations.Staying(wordKey("sticky-session", groupListener, annotations.InPlace, "Whether clients of HTTP and HTTPS stay with a backend by a cookie.", "off", on, off)))
	stickyTypeKey      = onClassic(wordKey("sticky-session-type", groupListener, annotations.InPlace, "Whether the load balancer inserts the cookie or the backend sets it.", "none", "insert", "server"))
	cookieTimeoutKey   = onClassic(numberKey("cookie-timeout", groupListener, "1800", "Life of an inserted cookie, in seconds.", 1, 86400, "none"))
	cookieKey          = onClassic(textKey("cookie", groupListener, annotations.NamesNothing(), annotations.Custom("cookie", `1 to 200 characters without commas, semicolons and blanks, not beginning with "$"`, parseCookie), annotations.InPlace, "session", "Name of the cookie that the backend sets.", "none"))
	forwardedProtoKey  = onClassic(annotations.Staying(wordKey("xforwardedfor-proto", groupListener, annotations.InPlace, "Whether requests carry the protocol of the listener in X-Forwarded-Proto.", "off", on, off)))
	forwardedPortKey   = onClassic(annotations.Staying(wordKey("xforwardedfor-slbport", groupListener, annotations.InPlace, "Whether requests carry the port of the listener in X-Forwarded-Port.", "off", on, off)))
	forwardedSourceKey = onClassic(annotations.Staying(wordKey("xforwardedfor-clientsrcport", groupListener, annotations.InPlace, "Whether requests carry the port of the client in X-Forwarded-Client-srcport.", "off", on, off)))
	certificateKey     = onBoth(textKey("cert-id", groupListener, annotations.NamesBy(annotations.ThingCertificate, SplitIDs), annotations.String().Legally("the id of a server certificate of CLB"), annotations.InPlace, "1234567890123456_15d5eb0ceb3_-1523456789_1234567", "Certificate of HTTPS listeners.", "none"), func(f *annotations.Form[string]) {
		f.Type = annotations.Custom("certificates", "ids of certificates, separated by commas", parseOrdered)
	})
	http2Key  = onClassic(annotations.Staying(wordKey("http2-enabled", groupListener, annotations.InPlace, "Whether HTTPS listeners accept HTTP/2.", "on", off, on)))
	cipherKey = onBoth(annotations.Staying(wordKey("tls-cipher-policy", groupListener, annotations.InPlace, "TLS versions and ciphers of HTTPS listeners.", "tls_cipher_policy_1_0",
		"tls_cipher_policy_1_2", "tls_cipher_policy_1_0", "tls_cipher_policy_1_1", "tls_cipher_policy_1_2_strict", "tls_cipher_policy_1_2_strict_with_1_3")), func(f *annotations.Form[string]) {
		f.Type = annotations.NonEmpty().Legally("a policy of the cloud, such as tls_cipher_policy_1_2, or the id of a policy of your own")
	})
)

// Keys of health checks.
var (
	healthFlagKey     = onBoth(annotations.Staying(wordKey("health-check-flag", groupHealth, annotations.InPlace, "Whether backends of HTTP and HTTPS listeners are checked.", "off", on, off)), func(f *annotations.Form[string]) { f.Type, f.DefaultDoc = annotations.EnumFold(on, off), on })
	healthSwitchKey   = onClassic(annotations.Staying(wordKey("health-check-switch", groupHealth, annotations.InPlace, "Whether backends of TCP and UDP listeners are checked.", "on", off, on)))
	healthTypeKey     = onBoth(annotations.Staying(wordKey("health-check-type", groupHealth, annotations.InPlace, "Protocol of the health check of TCP listeners.", "tcp", http, tcp)), onCheck(anyCase(tcp, http, udp)))
	healthURIKey      = onBoth(annotations.Staying(textKey("health-check-uri", groupHealth, annotations.NamesNothing(), annotations.Custom("path", `a path of 1 to 80 characters that begins with "/"`, parsePath), annotations.InPlace, "/healthz", "Path of health checks by HTTP.", "/")), onCheck(asClassic[string]))
	healthPortKey     = onBoth(annotations.Staying(orNothing(numberKey("health-check-connect-port", groupHealth, "10256", "Port of health checks.", 1, 65535, "the port of the backend"), portOfBackend)), onCheck(inRange(0, 65535, "the port of the backend")))
	healthyKey        = onBoth(annotations.Staying(numberKey("healthy-threshold", groupHealth, "4", "Number of successful health checks after which a backend gets traffic.", 2, 10, "3")), onCheck(inRange(2, 10, "2")))
	unhealthyKey      = onBoth(annotations.Staying(numberKey("unhealthy-threshold", groupHealth, "4", "Number of failed health checks after which a backend gets no traffic.", 2, 10, "3")), onCheck(inRange(2, 10, "2")))
	intervalKey       = onBoth(annotations.Staying(numberKey("health-check-interval", groupHealth, "3", "Time between two health checks, in seconds.", 1, 50, "2")), onCheck(inRange(1, 50, "10")))
	connectTimeoutKey = onBoth(annotations.Staying(numberKey("health-check-connect-timeout", groupHealth, "10", "Time after which a health check of TCP and UDP has failed, in seconds.", 1, 300, "5")), onCheck(asClassic[int]))
	healthTimeoutKey  = onClassic(annotations.Staying(numberKey("health-check-timeout", groupHealth, "10", "Time after which a health check of HTTP and HTTPS has failed, in seconds.", 1, 300, "5")))
	healthDomainKey   = onBoth(annotations.Staying(textKey("health-check-domain", groupHealth, annotations.NamesNothing(), annotations.NonEmpty().Legally("a domain, or $_ip for the address of the backend"), annotations.InPlace, "shop.example.com", "Host of health checks by HTTP.", "the address of the backend")), onCheck(asClassic[string]))
	healthCodesKey    = onBoth(annotations.Staying(textKey("health-check-httpcode", groupHealth, annotations.NamesNothing(), annotations.Custom("codes", "http_2xx, http_3xx, http_4xx and http_5xx, separated by commas", parseCodes), annotations.InPlace, "http_2xx,http_3xx", "Answers of healthy backends.", "http_2xx")), onCheck(asClassic[string]))
	healthMethodKey   = onBoth(annotations.Staying(wordKey("health-check-method", groupHealth, annotations.InPlace, "Method of health checks of HTTP and HTTPS listeners.", "head", "get", "head")), onCheck(func(f *annotations.Form[string]) { f.Type, f.DefaultDoc = annotations.EnumFold("get", "head"), "get" }))
)

func protocolKeys() []annotations.Declaration {
	return []annotations.Declaration{protocolKey, forwardKey, domainsKey}
}

// parseProtocols reads protocols by port.
func parseProtocols(raw string) (map[int32]string, error) {
	return readProtocols(raw, func(protocol string) (string, bool) { return protocol, slices.Contains(allProtocols(), protocol) })
}

// readProtocols reads protocols by port. Of two items of a port the last one counts.
func readProtocols(raw string, read func(protocol string) (string, bool)) (map[int32]string, error) {
	out := map[int32]string{}
	for item := range strings.SplitSeq(raw, ",") {
		protocol, port, ok := strings.Cut(strings.TrimSpace(item), ":")
		n, err := strconv.ParseUint(port, 10, 16)
		if !ok || err != nil || n == 0 {
			return nil, fmt.Errorf("has %q, which is not a protocol and a port", item)
		}
		name, known := read(protocol)
		if !known {
			return nil, fmt.Errorf("has the protocol %q, which no listener has", protocol)
		}
		out[int32(n)] = name
	}
	return out, nil
}

func parseAddress(raw string) (string, error) {
	a, err := netip.ParseAddr(raw)
	if err != nil || !a.Is4() {
		return "", errors.New("is not an IPv4 address")
	}
	return a.String(), nil
}

// longestPath is how long the path of a health check may be.
const longestPath = 80

func parsePath(raw string) (string, error) {
	if !strings.HasPrefix(raw, "/") || len(raw) > longestPath || strings.ContainsAny(raw, " \t") {
		return "", errors.New("is not a path")
	}
	return raw, nil
}

// longestCookie is how long the name of a cookie may be.
const longestCookie = 200

func parseCookie(raw string) (string, error) {
	if len(raw) > longestCookie || strings.HasPrefix(raw, "$") || strings.ContainsAny(raw, ",; \t") {
		return "", errors.New("is not the name of a cookie")
	}
	return raw, nil
}

func parseCodes(raw string) (string, error) {
	var out []string
	for code := range strings.SplitSeq(raw, ",") {
		if code = strings.TrimSpace(code); !slices.Contains([]string{"http_2xx", "http_3xx", "http_4xx", "http_5xx"}, code) {
			return "", fmt.Errorf("has %q, which is not a class of answers", code)
		}
		out = append(out, code)
	}
	return strings.Join(out, ","), nil
}

// checkProtocols judges protocols by port.
func checkProtocols(_ string, values *annotations.Bag, all []corev1.ServicePort) annotations.Problems {
	var out annotations.Problems
	given := protocolKey.Get(values)
	for _, port := range slices.Sorted(maps.Keys(given)) {
		ports := nodeports.PortsOf(all, port)
		if len(ports) == 0 {
			out = append(out, protocolKey.Warning(values, fmt.Sprintf("has the port %d, which the Service does not have", port), "ports of the Service"))
		}
		for _, p := range ports {
			if transportOf(strings.ToLower(given[port])) != strings.ToLower(string(p.Protocol)) {
				out = append(out, protocolKey.Refusal(values, fmt.Sprintf("has %s for the port %s", given[port], p), "a protocol over that of the port"))
			}
		}
	}
	return out
}
