package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	// secretKey is the key by which requests to AWS are signed; the simulator takes any.
	secretKey = "planted-aws-secret-access-key-61b0"
	// identityHeader is what programs show the endpoint that gives them Azure's tokens.
	identityHeader = "planted-identity-header-9e27"
)

// Credentials is the environment by which the SDKs get along with the world's
// simulator, which is also the metadata server of Google's machines.
func (w *World) Credentials() []string {
	return append(Credentials(), "GCE_METADATA_HOST="+strings.TrimPrefix(w.Sim.URL, "http://"),
		"IDENTITY_ENDPOINT="+w.Sim.URL+"/msi/token", "IDENTITY_HEADER="+identityHeader)
}

// Credentials is the environment by which the SDKs get along with a simulator:
// any key will do, and there is no metadata service to ask.
func Credentials() []string {
	return []string{"AWS_ACCESS_KEY_ID=simulated", "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_EC2_METADATA_DISABLED=true"}
}

// secretLines returns what is secret in the cloud configurations that simulators write, by
// the key that it stands at. Of a private key each line is one.
func secretLines() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"aadClientSecret": regexp.MustCompile(`"aadClientSecret": *"([^"]+)"`),
		"password":        regexp.MustCompile(`(?m)^password = (.+)$`),
		"key":             regexp.MustCompile(`(?m)^ *([A-Za-z0-9+/]{60,})$`),
	}
}

// Secrets returns the credentials that the programs of the world are given, by where they
// stand: those of the environment, of the cloud configuration and of the kubeconfig. None
// of them may be in anything that a program says.
func (w *World) Secrets() (map[string]string, error) {
	out := map[string]string{"AWS_SECRET_ACCESS_KEY": secretKey, "IDENTITY_HEADER": identityHeader}
	conf, err := os.ReadFile(filepath.Join(w.Sim.Dir, "cloud.conf"))
	if err != nil {
		return nil, err
	}
	for key, line := range secretLines() {
		for n, found := range line.FindAllSubmatch(conf, -1) {
			out[fmt.Sprintf("%s in cloud.conf (%d)", key, n)] = string(found[1])
		}
	}
	config, err := w.Cluster.RESTConfig("")
	if err != nil {
		return nil, err
	}
	if config.BearerToken != "" {
		out["kubeconfig"] = config.BearerToken
	}
	return out, nil
}
