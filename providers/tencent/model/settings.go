package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// setting is a parameter of listeners and rules.
type setting struct {
	lowest, highest int
	off             bool     // 0 is legal as well
	words           []string // legal texts; nil with highest 0: any text
	isSwitch        bool
	only            []string // protocols; nil: all
}

const healthPrefix = "HealthCheck."

// settingTable are the parameters, by their names in the API; those of health checks have a prefix.
// Source: CLB API 2018-03-17, CreateListener, RuleInput and HealthCheck.
func settingTable() map[string]setting {
	layer4 := []string{tcp, udp, tcpSSL, quic}
	return map[string]setting{
		"Scheduler":           {words: []string{"WRR", "LEAST_CONN", "IP_HASH"}},
		"SessionExpireTime":   {lowest: 30, highest: 86400, off: true},
		"IdleConnectTimeout":  {lowest: 10, highest: 1980, only: []string{tcp, udp}},
		"DeregisterTargetRst": {isSwitch: true, only: []string{tcp}},
		"MaxConn":             {lowest: -1, highest: math.MaxInt32, only: layer4},
		"MaxCps":              {lowest: -1, highest: math.MaxInt32, only: layer4},
		"SnatEnable":          {isSwitch: true},
		"ProxyProtocol":       {isSwitch: true, only: []string{tcpSSL, quic}},

		healthPrefix + "HealthSwitch":    {lowest: 0, highest: 1},
		healthPrefix + "TimeOut":         {lowest: 2, highest: 60},
		healthPrefix + "IntervalTime":    {lowest: 2, highest: 300},
		healthPrefix + "HealthNum":       {lowest: 2, highest: 10},
		healthPrefix + "UnHealthNum":     {lowest: 2, highest: 10},
		healthPrefix + "HttpCode":        {lowest: 1, highest: 31},
		healthPrefix + "HttpCheckPath":   {},
		healthPrefix + "HttpCheckDomain": {},
		healthPrefix + "HttpCheckMethod": {words: []string{"HEAD", "GET"}},
		healthPrefix + "HttpVersion":     {words: []string{"HTTP/1.0", "HTTP/1.1"}},
		healthPrefix + "CheckType":       {words: []string{"TCP", "HTTP", "HTTPS", "GRPC", "PING", "CUSTOM"}},
		healthPrefix + "CheckPort":       {lowest: 1, highest: 65535},
		healthPrefix + "ContextType":     {words: []string{"HEX", "TEXT"}},
		healthPrefix + "SendContext":     {},
		healthPrefix + "RecvContext":     {},
		healthPrefix + "SourceIpType":    {lowest: 0, highest: 1},
	}
}

// SettingKind says how the API writes a setting.
type SettingKind int

// The kinds.
const (
	TextSetting SettingKind = iota
	NumberSetting
	SwitchSetting
)

// SettingOf returns the kind of a setting; false: there is no such setting.
func SettingOf(name string) (SettingKind, bool) {
	s, ok := settingTable()[name]
	switch {
	case s.isSwitch:
		return SwitchSetting, ok
	case s.highest > 0:
		return NumberSetting, ok
	}
	return TextSetting, ok
}

// FlattenSettings adds the settings of a JSON object of the API to a map of texts. Members that are no
// settings are left out.
func FlattenSettings(out map[string]string, prefix string, object map[string]any) {
	for name, value := range object {
		if inner, ok := value.(map[string]any); ok && prefix == "" {
			FlattenSettings(out, name+".", inner)
			continue
		}
		if _, known := SettingOf(prefix + name); known && value != nil {
			out[prefix+name] = textOfValue(value)
		}
	}
}

func textOfValue(value any) string {
	if n, ok := value.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// ExpandSettings returns settings as the JSON object of the API.
func ExpandSettings(settings map[string]string) map[string]any {
	out := map[string]any{}
	health := map[string]any{}
	for name, text := range settings {
		to := out
		short, ok := strings.CutPrefix(name, healthPrefix)
		if ok {
			to = health
		}
		switch kind, _ := SettingOf(name); kind {
		case NumberSetting:
			n, _ := strconv.Atoi(text) // was parsed before
			to[short] = n
		case SwitchSetting:
			to[short] = text == "true"
		case TextSetting:
			to[short] = text
		}
	}
	if len(health) > 0 {
		out[strings.TrimSuffix(healthPrefix, ".")] = health
	}
	return out
}

// parseSettings reads parameters of listeners as a JSON object.
func parseSettings(raw string) (map[string]string, error) {
	var given map[string]any
	if err := json.Unmarshal([]byte(raw), &given); err != nil {
		return nil, fmt.Errorf("is not a JSON object: %w", err)
	}
	if given == nil {
		return nil, errors.New("is not a JSON object")
	}
	flat := map[string]any{}
	for name, value := range given {
		inner, ok := value.(map[string]any)
		if !ok {
			flat[name] = value
		}
		for part, v := range inner {
			flat[name+"."+part] = v
		}
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(flat)) {
		s, known := settingTable()[name]
		if !known {
			return nil, fmt.Errorf("has %s, which is not a parameter that can be set; legal are %s", name, strings.Join(slices.Sorted(maps.Keys(settingTable())), ", "))
		}
		out[name] = textOfValue(flat[name])
		if err := s.check(out[name]); err != nil {
			return nil, fmt.Errorf("has %s %s, which %w", name, out[name], err)
		}
	}
	return out, nil
}

// check judges a value.
func (s setting) check(text string) error {
	switch {
	case s.isSwitch && text != "true" && text != "false":
		return errors.New("is not true or false")
	case s.highest > 0:
		n, err := strconv.Atoi(text)
		if s.off && n == 0 && err == nil {
			return nil
		}
		if err != nil || n < s.lowest || n > s.highest {
			return fmt.Errorf("is not a number from %d to %d", s.lowest, s.highest)
		}
	case s.words != nil && !slices.Contains(s.words, text):
		return fmt.Errorf("is not one of %s", strings.Join(s.words, ", "))
	}
	return nil
}

// isOf reports whether listeners of a protocol have a setting.
func (s setting) isOf(protocol string) bool {
	return s.only == nil || slices.Contains(s.only, protocol)
}

// checkTogether judges settings of a listener that depend on each other.
func checkTogether(protocol string, all map[string]string) error {
	number := func(name string, standard int) int {
		n, err := strconv.Atoi(all[healthPrefix+name])
		if err != nil {
			return standard
		}
		return n
	}
	kind := all[healthPrefix+"CheckType"]
	switch {
	case number("TimeOut", standardTimeout) >= number("IntervalTime", standardInterval):
		return errors.New("needs HealthCheck.IntervalTime above HealthCheck.TimeOut")
	case kind == "HTTP" && !HasRules(protocol) && all[healthPrefix+"HttpCheckDomain"] == "":
		return errors.New("needs HealthCheck.HttpCheckDomain for a health check by HTTP")
	case protocol == udp && kind != "" && kind != "PING" && kind != "CUSTOM":
		return errors.New("needs HealthCheck.CheckType PING or CUSTOM for UDP")
	case kind == "CUSTOM" && all[healthPrefix+"SendContext"] == "":
		return errors.New("needs HealthCheck.ContextType, SendContext and RecvContext for CUSTOM")
	case all["Scheduler"] == "IP_HASH" && !HasRules(protocol):
		return errors.New("needs HTTP or HTTPS for the scheduler IP_HASH")
	}
	return nil
}

// What new listeners have, in seconds. Source: CLB API 2018-03-17, HealthCheck.
const (
	standardTimeout  = 2
	standardInterval = 5
)

// IsOfHealth reports whether a setting is of the health check, which is written as a whole.
func IsOfHealth(name string) bool { return strings.HasPrefix(name, healthPrefix) }
