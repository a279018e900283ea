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
// needs besides. Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/cloud.go.
type Config struct {
	ClusterID string `json:"ClusterId"`
	AccessKey string `json:"AccessKeyID"`
	SecretKey string `json:"SecretAccessKey"`
	Region    string `json:"Region"`
	VPC       string `json:"VpcId"`
	Subnet    string `json:"SubnetId"`
	// SessionToken belongs to temporary keys; Berth's own key.
	SessionToken string `json:"SessionToken"`
	// APIEndpoint is the address of all APIs in place of the public ones; Berth's own key.
	APIEndpoint string `json:"APIEndpoint"`
}

// unusedKeys are keys of the file that load balancers do not need.
func unusedKeys() []string {
	return []string{"ClusterName", "MasterId", "Endpoint", "NodeName", "NodeIP", "Debug"}
}

// ReadConfig reads the cloud configuration, JSON; a nil reader means no file. Unknown keys are
// returned as warnings.
func ReadConfig(r io.Reader) (Config, annotations.Problems, error) {
	c := Config{Region: "bj"}
	if r == nil {
		return c, nil, nil
	}
	text, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	var given map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &given)
	}
	if err != nil {
		return c, nil, fmt.Errorf("cloud config: %w", err)
	}
	known := append(unusedKeys(), "ClusterId", "AccessKeyID", "SecretAccessKey", "Region", "VpcId", "SubnetId", "SessionToken", "APIEndpoint")
	var out annotations.Problems
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, key) {
			out = append(out, annotations.Problem{Severity: annotations.Warning, Key: "cloud config", Value: key, Message: "is a key that is not known, so it has no effect"})
		}
	}
	return c, out, nil
}
