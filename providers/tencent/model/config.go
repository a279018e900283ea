package model

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/berth-lb/berth/annotations"
)

// Config is the official cloud configuration file, as far as load balancers need it, and what Berth
// needs besides. Empty values are those of the environment.
// Source: TencentCloud/tencentcloud-cloud-controller-manager:tencentcloud/cloud.go.
type Config struct {
	Region    string `json:"region"`
	VPC       string `json:"vpc_id"`
	SecretID  string `json:"secret_id"`
	SecretKey string `json:"secret_key"`
	// ClusterID is in the tags of load balancers; Berth's own key.
	ClusterID string `json:"cluster_id"`
	// Regions are other regions in which Services may have load balancers: they are searched for those of deleted
	// Services as well, and checked. Berth's own key.
	Regions []string `json:"regions"`
	// Endpoint is the address of the API in place of the public one; Berth's own key.
	Endpoint string `json:"endpoint"`
}

// ReadConfig reads the cloud configuration, JSON; a nil reader means no file. Unknown keys are
// returned as warnings.
func ReadConfig(r io.Reader) (Config, annotations.Problems, error) {
	var c Config
	if r == nil {
		return c, nil, nil
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return c, nil, fmt.Errorf("cloud config: %w", err)
	}
	var given map[string]any
	if err := json.Unmarshal(text, &given); err != nil {
		return c, nil, fmt.Errorf("cloud config: %w", err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, nil, fmt.Errorf("cloud config: %w", err)
	}
	known := []string{"region", "vpc_id", "secret_id", "secret_key", "cluster_route_table", "cluster_id", "regions", "endpoint"}
	var out annotations.Problems
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, key) {
			out = append(out, annotations.Problem{Severity: annotations.Warning, Key: "cloud config", Value: key, Message: "is a key that is not known, so it has no effect"})
		}
	}
	return c, out, nil
}
