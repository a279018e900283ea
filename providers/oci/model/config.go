package model

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
)

// Config is the official cloud configuration file, as far as load balancers need it,
// and what the session adds to it.
// Source: oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/config/config.go.
type Config struct {
	Auth               Auth         `json:"auth"`
	RegionKey          string       `json:"regionKey"`
	InstancePrincipals bool         `json:"useInstancePrincipals"`
	WorkloadIdentity   bool         `json:"useWorkloadIdentity"`
	Compartment        string       `json:"compartment"`
	VCN                string       `json:"vcn"`
	LoadBalancer       LoadBalancer `json:"loadBalancer"`
	RateLimiter        RateLimiter  `json:"rateLimiter"`
	Tags               Tags         `json:"tags"`
	// Endpoint is the address of all APIs, in place of those of the region. It is
	// Berth's own key, for clouds that are not at Oracle's names.
	Endpoint string `json:"endpoint"`

	Prefix         string        `json:"-"` // of names of lb, from the environment
	RequestTimeout time.Duration `json:"-"` // of every call, from the environment; 0: a minute
}

// Auth is the section of that name: an API key.
type Auth struct {
	Region      string `json:"region"`
	Tenancy     string `json:"tenancy"`
	User        string `json:"user"`
	Key         string `json:"key"` // PEM
	Fingerprint string `json:"fingerprint"`
	Passphrase  string `json:"passphrase"`
	// KeyPassphrase is what the passphrase was called before.
	KeyPassphrase string `json:"key_passphrase"`
	// Deprecated places of what is at the top.
	Compartment        string `json:"compartment"`
	InstancePrincipals bool   `json:"useInstancePrincipals"`
	RegionKey          string `json:"regionKey"`
	VCN                string `json:"vcn"`
}

// LoadBalancer is the section of that name.
type LoadBalancer struct {
	Disabled     bool              `json:"disabled"`
	Subnet1      string            `json:"subnet1"`
	Subnet2      string            `json:"subnet2"`
	Mode         string            `json:"securityListManagementMode"`
	DisableRules bool              `json:"disableSecurityListManagement"`
	Lists        map[string]string `json:"securityLists"` // security list by subnet
}

// RateLimiter is the section of that name, in calls a second and calls at once.
type RateLimiter struct {
	Disabled   bool     `json:"disableRateLimiter"`
	ReadRate   *float64 `json:"rateLimitQPSRead"`
	ReadBurst  *int     `json:"rateLimitBucketRead"`
	WriteRate  *float64 `json:"rateLimitQPSWrite"`
	WriteBurst *int     `json:"rateLimitBucketWrite"`
}

// Tags is the section of that name; what other controllers tag is left out.
type Tags struct {
	LoadBalancer TagSet `json:"loadBalancer"`
	Common       TagSet `json:"common"`
	// Those of storage, which is other controllers' affair.
	BlockVolume any `json:"blockVolume"`
	FSS         any `json:"fss"`
	Lustre      any `json:"lustre"`
}

// TagSet are free-form and defined tags.
type TagSet struct {
	Freeform map[string]string         `json:"freeform"`
	Defined  map[string]map[string]any `json:"defined"`
}

// whole lists every key that the file may have.
type whole struct {
	Config
	// Metrics is where the official controller pushes its own to.
	Metrics any `json:"metrics"`
}

// ReadConfig reads the official cloud configuration; a nil reader means no file. Unused
// keys are returned as warnings; a value that cannot be parsed is an error.
func ReadConfig(r io.Reader) (Config, annotations.Problems, error) {
	var c Config
	var unknown annotations.Problems
	if r != nil {
		text, err := io.ReadAll(r)
		if err != nil {
			return c, nil, fmt.Errorf("cloud config: %w", err)
		}
		if err := yaml.Unmarshal(text, &c); err != nil {
			return c, nil, fmt.Errorf("cloud config: %w", err)
		}
		var strict whole
		if err := yaml.UnmarshalStrict(text, &strict); err != nil {
			unknown = append(unknown, annotations.Problem{Severity: annotations.Warning, Key: "cloud config", Message: "has a key that is not known, so it has no effect: " + err.Error()})
		}
	}
	c.Compartment = cmp.Or(c.Compartment, c.Auth.Compartment)
	c.RegionKey, c.VCN = cmp.Or(c.RegionKey, c.Auth.RegionKey), cmp.Or(c.VCN, c.Auth.VCN)
	c.InstancePrincipals = c.InstancePrincipals || c.Auth.InstancePrincipals
	c.Auth.Passphrase = cmp.Or(c.Auth.Passphrase, c.Auth.KeyPassphrase)
	return c, unknown, c.check()
}

func (c Config) check() error {
	var out []error
	if c.InstancePrincipals && c.WorkloadIdentity {
		out = append(out, errors.New("cloud config: useInstancePrincipals and useWorkloadIdentity: are both true; legal is one of them"))
	}
	switch c.LoadBalancer.Mode {
	case "", modeAll, modeFrontend, modeNone:
	default:
		out = append(out, fmt.Errorf("cloud config: loadBalancer.securityListManagementMode: %q is not legal; legal are All, Frontend, None", c.LoadBalancer.Mode))
	}
	return errors.Join(out...)
}

// listMode is the way in which security lists of lb are kept where a Service says
// nothing.
func (c Config) listMode() string {
	if c.LoadBalancer.DisableRules {
		return modeNone
	}
	return cmp.Or(c.LoadBalancer.Mode, modeAll)
}
