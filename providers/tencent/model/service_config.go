package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// ServiceConfigs returns the kind of the objects TkeServiceConfig.
// Source: https://cloud.tencent.com/document/product/457/45490.
func ServiceConfigs() providers.ObjectKind {
	return providers.KindOf("cloud.tencent.com", "v1alpha1", "tkeserviceconfigs")
}

// Bounds of a TkeServiceConfig.
const (
	shortestSession = 30
	longestSession  = 3600
	mostBandwidth   = 2048
)

// configKey names a TkeServiceConfig.
var configKey = &annotations.Key[string]{
	Name: cloud + "tke-service-config", Names: annotations.NamesThe(annotations.ThingSection), Group: groupListener, Example: "shop-config",
	Doc:   "Name of an object of kind TkeServiceConfig in the namespace of the Service. Its l4Listeners are settings of the listeners of single ports, and its internetMaxBandwidthOut is the bandwidth.",
	Forms: annotations.PlainForms(annotations.Custom("name", "the name of a TkeServiceConfig", parseConfigName), annotations.InPlace, "none, and a live listener keeps its own settings", "https://cloud.tencent.com/document/product/457/45490"),
}

// parseConfigName refuses names of objects that the official controller writes itself.
func parseConfigName(raw string) (string, error) {
	for _, suffix := range []string{"-auto-service-config", "-auto-ingress-config"} {
		if strings.HasSuffix(raw, suffix) {
			return "", fmt.Errorf("ends in %s, which the official controller keeps for objects of its own", suffix)
		}
	}
	if strings.ContainsAny(raw, " /") {
		return "", errors.New("is not the name of an object")
	}
	return raw, nil
}

// configRef returns the object that a Service names; false: none.
func configRef(in Input) (providers.Reference, bool) {
	name := configKey.Get(in.Values)
	return providers.Reference{Kind: ServiceConfigs(), Namespace: in.Service.Namespace, Name: name}, name != ""
}

// configDoc is the spec of a TkeServiceConfig, as far as it is used.
type configDoc struct {
	LoadBalancer struct {
		Bandwidth *int              `json:"internetMaxBandwidthOut"`
		L4        []json.RawMessage `json:"l4Listeners"`
		L7        []json.RawMessage `json:"l7Listeners"`
	} `json:"loadBalancer"`
}

// segmentDoc are the settings of one listener.
type segmentDoc struct {
	Protocol  string `json:"protocol"`
	Port      int32  `json:"port"`
	Scheduler string `json:"scheduler"`
	Session   *struct {
		Enable *bool `json:"enable"`
		Expire *int  `json:"sessionExpireTime"`
	} `json:"session"`
	Health *struct {
		Enable    *bool `json:"enable"`
		Interval  *int  `json:"intervalTime"`
		Healthy   *int  `json:"healthNum"`
		Unhealthy *int  `json:"unHealthNum"`
		Timeout   *int  `json:"timeout"`
	} `json:"healthCheck"`
}

// segment are the settings of one listener in the words of the API, or why they cannot be applied.
type segment struct {
	settings map[string]string
	fault    error
}

// readConfig reads the TkeServiceConfig that the Service names. One that cannot be read has no effect.
func (b *builder) readConfig() {
	ref, named := configRef(b.in)
	if !named {
		return
	}
	b.segments = map[string]*segment{}
	object := b.in.Objects[ref]
	if object.Spec == nil {
		b.problems = append(b.problems, configKey.Warning(b.in.Values, "names the "+ref.String()+", which "+object.Why+"; listeners keep their settings", "the name of a TkeServiceConfig in the namespace of the Service"))
		return
	}
	var doc configDoc
	text, _ := json.Marshal(object.Spec) // was decoded from JSON
	if err := json.Unmarshal(text, &doc); err != nil {
		b.warnConfig("has a spec that cannot be read: " + err.Error())
		return
	}
	if len(doc.LoadBalancer.L7) > 0 {
		b.warnConfig("has l7Listeners, which have no effect on Services")
	}
	if n := doc.LoadBalancer.Bandwidth; n != nil && (*n < 1 || *n > mostBandwidth) {
		b.warnConfig(fmt.Sprintf("has internetMaxBandwidthOut %d, which is not a number from 1 to %d, so the bandwidth stays as it is", *n, mostBandwidth))
	} else if n != nil {
		b.bandwidth = *n
	}
	for i, raw := range doc.LoadBalancer.L4 {
		b.readSegment(i, raw)
	}
}

// warnConfig reports something about the object that configKey names.
func (b *builder) warnConfig(what string) {
	b.problems = append(b.problems, configKey.Warning(b.in.Values, what, "a TkeServiceConfig with legal values"))
}

// readSegment reads the settings of one listener. Other listeners do not depend on them.
func (b *builder) readSegment(at int, raw json.RawMessage) {
	var doc segmentDoc
	err := json.Unmarshal(raw, &doc)
	if doc.Port == 0 || doc.Protocol == "" {
		b.warnConfig(fmt.Sprintf("has l4Listeners[%d] without a protocol and a port, which has no effect", at))
		return
	}
	s := &segment{fault: err}
	if err == nil {
		s.settings, s.fault = doc.parse()
	}
	b.segments[segmentName(doc.Protocol, doc.Port)] = s
}

func segmentName(protocol string, port int32) string { return fmt.Sprint(protocol, " ", port) }

// parse returns the settings that are given. Others stay as they are.
func (d segmentDoc) parse() (map[string]string, error) {
	out := map[string]string{}
	if d.Scheduler != "" {
		out["Scheduler"] = d.Scheduler
	}
	if s := d.Session; s != nil {
		if out["SessionExpireTime"] = "0"; s.Enable == nil || *s.Enable {
			expire := shortestSession
			if s.Expire != nil {
				expire = *s.Expire
			}
			if expire < shortestSession || expire > longestSession {
				return nil, fmt.Errorf("session.sessionExpireTime %d is not a number from %d to %d", expire, shortestSession, longestSession)
			}
			out["SessionExpireTime"] = strconv.Itoa(expire)
		}
	}
	if h := d.Health; h != nil {
		if h.Enable != nil {
			out[healthPrefix+"HealthSwitch"] = map[bool]string{true: "1", false: "0"}[*h.Enable]
		}
		for name, value := range map[string]*int{"IntervalTime": h.Interval, "HealthNum": h.Healthy, "UnHealthNum": h.Unhealthy, "TimeOut": h.Timeout} {
			if value != nil {
				out[healthPrefix+name] = strconv.Itoa(*value)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if err := settingTable()[name].check(out[name]); err != nil {
			return nil, fmt.Errorf("%s %s %w", fieldOf(name), out[name], err)
		}
	}
	return out, nil
}

// fieldOf returns the field of a TkeServiceConfig that sets a parameter of the API.
func fieldOf(setting string) string {
	return map[string]string{
		"Scheduler": "scheduler", "SessionExpireTime": "session.sessionExpireTime", healthPrefix + "HealthSwitch": "healthCheck.enable", healthPrefix + "IntervalTime": "healthCheck.intervalTime",
		healthPrefix + "HealthNum": "healthCheck.healthNum", healthPrefix + "UnHealthNum": "healthCheck.unHealthNum", healthPrefix + "TimeOut": "healthCheck.timeout",
	}[setting]
}

// configured adds the settings of the TkeServiceConfig for a listener. False: they cannot be applied,
// which is reported, and a live listener keeps its own.
func (b *builder) configured(protocol string, port int32, settings, found map[string]string) bool {
	s := b.segments[segmentName(protocol, port)]
	if s == nil {
		return true
	}
	fault, all := s.fault, map[string]string{}
	for _, some := range []map[string]string{found, settings, s.settings} {
		maps.Copy(all, some)
	}
	if fault == nil {
		fault = checkTogether(protocol, all)
	}
	if fault != nil {
		b.warnConfig(fmt.Sprintf("has settings for %s %d that cannot be applied: %v. A new listener is not created, a live one keeps its settings and follows the nodes", protocol, port, fault))
		return false
	}
	maps.Copy(settings, s.settings)
	return true
}
