package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// Controller is the section [Berth] of the cloud configuration: whether the Services of
// the AWS Load Balancer Controller are served, and what its flags say. The zero value
// leaves them to it.
type Controller struct {
	Serve bool
	// TargetType, Scheme and SSLPolicy are those of Services that say nothing; empty: the
	// defaults of the official flags.
	TargetType string
	Scheme     string
	SSLPolicy  string
	Tags       map[string]string // on everything that is made; they win over those of a Service
	// BackendGroup is the group that load balancers send from, instead of one that is
	// made and shared by all of them.
	BackendGroup string
	// NoBackendGroup has them send from the group that lets their clients in.
	NoBackendGroup bool
	ManageRules    bool // nodes let in load balancers whose groups the user has named as well
	TCPUDP         bool // TCP and UDP on one port are served together
	NoWeights      bool // no listener sends to two target groups while one replaces the other
}

// controllerSection is the section as the reader library fills it in.
type controllerSection struct {
	LoadBalancerController          bool
	DefaultTargetType               string
	DefaultScheme                   string
	DefaultSslPolicy                string
	DefaultTags                     string
	BackendSecurityGroup            string
	DisableBackendSecurityGroup     bool
	ManageBackendSecurityGroupRules bool
	EnableTCPUDPListener            bool
	DisableWeightedTargetGroups     bool
}

const defaultSSLPolicy = "ELBSecurityPolicy-2016-08"

func targetTypes() []string { return []string{targetInstance, targetIP} }
func lbSchemes() []string   { return []string{SchemeInternal, schemePublic} }

func (s controllerSection) controller() (Controller, error) {
	tags, err := annotations.MapStrict().Parse(s.DefaultTags)
	if err != nil {
		return Controller{}, fmt.Errorf("[Berth] DefaultTags: %q: %w", s.DefaultTags, err)
	}
	if len(tags) == 0 {
		tags = nil
	}
	c := Controller{
		Serve: s.LoadBalancerController, TargetType: s.DefaultTargetType, Scheme: s.DefaultScheme, SSLPolicy: s.DefaultSslPolicy, Tags: tags,
		BackendGroup: s.BackendSecurityGroup, NoBackendGroup: s.DisableBackendSecurityGroup, ManageRules: s.ManageBackendSecurityGroupRules, TCPUDP: s.EnableTCPUDPListener,
		NoWeights: s.DisableWeightedTargetGroups,
	}
	for _, choice := range []struct {
		key    string
		value  *string
		values []string
	}{
		{"DefaultTargetType", &c.TargetType, targetTypes()}, {"DefaultScheme", &c.Scheme, lbSchemes()},
	} {
		if *choice.value != "" && !slices.Contains(choice.values, *choice.value) {
			return Controller{}, fmt.Errorf("[Berth] %s: %q is not one of: %s", choice.key, *choice.value, strings.Join(choice.values, ", "))
		}
	}
	if c.NoBackendGroup && (c.ManageRules || c.BackendGroup != "") {
		return Controller{}, fmt.Errorf("[Berth] DisableBackendSecurityGroup: does not go with BackendSecurityGroup or ManageBackendSecurityGroupRules")
	}
	return c, nil
}

// completed fills in the defaults of the official flags. Source:
// kubernetes-sigs/aws-load-balancer-controller:pkg/config/controller_config.go.
func (c Controller) completed() Controller {
	for _, d := range []struct {
		value *string
		is    string
	}{{&c.TargetType, targetInstance}, {&c.Scheme, SchemeInternal}, {&c.SSLPolicy, defaultSSLPolicy}} {
		if *d.value == "" {
			*d.value = d.is
		}
	}
	return c
}
