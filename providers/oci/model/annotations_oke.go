package model

import (
	"cmp"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Pages of Oracle about keys that the open controller does not have.
const (
	sourceSessions = "Oracle release notes for OKE, session persistence for load balancers (2026-04-13)"
	sourceLanding  = "https://github.com/oci-landing-zones/oci-landing-zone-operating-entities (pull request 230)"
	sourcePods     = "https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengconfiguringloadbalancersnetworkloadbalancers-subtopic.htm"
)

// Session keeps clients at their backend by a cookie of the application. The zero value does not.
// Source: Load Balancer API reference, SessionPersistenceConfigurationDetails.
type Session struct {
	Cookie     string
	NoFallback bool
}

// CookieSession keeps clients at their backend by a cookie of the load balancer. The zero value
// does not. Source: Load Balancer API reference, LBCookieSessionPersistenceConfigurationDetails.
type CookieSession struct {
	Cookie       string
	NoFallback   bool
	Domain, Path string
	MaxAge       int // seconds; 0: the session of the browser
	Secure, HTTP bool
}

// StandardCookie is the name of the load balancer's cookie if none is given.
// Source: as CookieSession.
const StandardCookie = "X-Oracle-BMC-LBS-Route"

// saidSession is what keys of session persistence say, in the words of the API.
type saidSession struct {
	Cookie     *string `json:"cookieName"`
	NoFallback bool    `json:"disableFallback"`
	Domain     string  `json:"domain"`
	Path       string  `json:"path"`
	MaxAge     int     `json:"maxAgeInSeconds"`
	Secure     bool    `json:"isSecure"`
	HTTP       *bool   `json:"isHttpOnly"`
}

// Keys that OKE documents.
var (
	sessionKey       = annotations.Staying(sessionConfig("session-persistence-config", "Keeps clients at their backend by a cookie that the application sets.", `{"cookieName": "SESSION", "disableFallback": true}`, needsCookie))
	cookieSessionKey = annotations.Staying(sessionConfig("lb-cookie-session-persistence-config", "Keeps clients at their backend by a cookie that the load balancer sets.", `{"cookieName": "route", "maxAgeInSeconds": 3600, "isSecure": true}`, nil))
	connectionsKey   = annotations.Staying(ofSource(numberKey(mapPrefix+"backendset-backend-max-connections", LB, groupTraffic, "Greatest number of connections to a backend at a time; 0 is no limit.", "1024", annotations.IntRange(0, mostConnections), 0, "what exists stays"), sourceLanding))
	failoverKey      = annotations.Staying(ofSource(flagKey(netPrefix+"is-instant-failover-enabled", NLB, groupTraffic, "Moves the connections of an unhealthy backend to another one at once.", "what exists stays", annotations.InPlace), sourceLanding))
	backendTypeKey   = laterKey(mapPrefix+"backend-type", "pod", "Makes pods the backends, in place of nodes.")
	podCheckKey      = laterKey(mapPrefix+"health-check", podCheck, "Health check of pods that are backends.")
	netPodCheckKey   = laterKey(netPrefix+"health-check", podCheck, "Health check of pods that are backends.")
)

const podCheck = `{"protocol": "HTTP", "port": 8080, "urlPath": "/readyz"}`

// mostConnections is the greatest limit of connections.
// Source: Load Balancer API reference, BackendSetDetails.backendMaxConnections.
const mostConnections = 65535

func okeKeys() []annotations.Declaration {
	return []annotations.Declaration{sessionKey, cookieSessionKey, connectionsKey, failoverKey, backendTypeKey, podCheckKey, netPodCheckKey}
}

func ofSource[T any](k *annotations.Key[T], source string) *annotations.Key[T] {
	k.Forms[0].Source = source
	return k
}

func laterKey(name, example, doc string) *annotations.Key[string] {
	return &annotations.Key[string]{
		Name: name, Names: annotations.NamesNothing(), Group: groupTraffic, Example: example, Doc: doc,
		Forms: []annotations.Form[string]{{
			Type: annotations.String(), Support: annotations.Later, Reason: "nodes are the backends; set spec.allocateLoadBalancerNodePorts to true", Source: sourcePods,
		}},
	}
}

func sessionConfig(name, doc, example string, rule func(saidSession) error) *annotations.Key[saidSession] {
	return &annotations.Key[saidSession]{
		Name: mapPrefix + name, Names: annotations.NamesNothing(), Group: groupTraffic, Example: example, Doc: doc,
		Forms: []annotations.Form[saidSession]{{
			Kinds: kindList(LB), Type: annotations.JSONOf("a JSON object in the words of the API, with cookieName", rule), DefaultDoc: "what exists stays", Empty: annotations.EmptyAbsent,
			Source: sourceSessions, Doc: `With an empty cookieName it is turned off.`,
			Needs: []annotations.Need{{protocolKey.Is(protocolHTTP, protocolGRPC)}},
		}},
	}
}

func needsCookie(s saidSession) error {
	if s.Cookie == nil {
		return errors.New("has no cookieName")
	}
	return nil
}

// checkSessions: a backend set has one sort of session persistence.
func checkSessions(kind string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	_, _, application := sessionKey.Lookup(bag)
	if _, _, balancer := cookieSessionKey.Lookup(bag); kind != LB || !application || !balancer {
		return nil
	}
	return annotations.Problems{cookieSessionKey.Refusal(bag, "cannot be beside "+sessionKey.Name+": a backend set has one sort of session persistence", "one of the two")}
}

// extend sets what OKE's keys say of a backend set. Without a key what was found stays.
func (b *builder) extend(set *BackendSet, found BackendSet) {
	bag := b.in.Values
	set.Session, set.CookieSession, set.Connections, set.Failover = found.Session, found.CookieSession, found.Connections, found.Failover
	if b.in.Kind == NLB {
		if on, _, said := failoverKey.Lookup(bag); said {
			set.Failover = on
		}
		return
	}
	if n, _, said := connectionsKey.Lookup(bag); said {
		set.Connections = n
	}
	if s, _, said := sessionKey.Lookup(bag); said {
		set.Session, set.CookieSession = Session{*s.Cookie, s.NoFallback}, CookieSession{}
		if *s.Cookie == "" {
			set.Session = Session{}
		}
	}
	if s, _, said := cookieSessionKey.Lookup(bag); said {
		set.Session, set.CookieSession = Session{}, s.ofBalancer()
	}
}

func (s saidSession) ofBalancer() CookieSession {
	if s.Cookie != nil && *s.Cookie == "" {
		return CookieSession{}
	}
	out := CookieSession{Cookie: StandardCookie, NoFallback: s.NoFallback, Domain: s.Domain, Path: s.Path, MaxAge: s.MaxAge, Secure: s.Secure, HTTP: s.HTTP == nil || *s.HTTP}
	if s.Cookie != nil {
		out.Cookie = cmp.Or(*s.Cookie, out.Cookie)
	}
	return out
}
