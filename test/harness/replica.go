package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Replica is one controller of several, distinguishable from the others by its requests.
type Replica struct {
	*Process
	// API forwards and records the requests to the API server.
	API *Relay

	cloud *Relay
}

// Replica starts the controller with relays to the cloud and to the API server. The
// User-Agent of its requests ends with the name of the process. Flags are as for Controller.
func (w *World) Replica(name string, flags ...string) (*Replica, error) {
	agent := w.numbered(name)
	dir := filepath.Join(w.Dir, agent)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	config, err := w.Cluster.RESTConfig("")
	if err != nil {
		return nil, err
	}
	r := &Replica{}
	if r.cloud, err = newRelay(agent, w.Sim.URL, nil); err != nil {
		return nil, err
	}
	w.relays = append(w.relays, r.cloud)
	if r.API, err = relayToAPI(agent, config); err != nil {
		return nil, err
	}
	w.relays = append(w.relays, r.API)
	conf, kubeconfig := filepath.Join(dir, "cloud.conf"), filepath.Join(dir, "kubeconfig")
	if err := w.redirect(conf, r.cloud); err != nil {
		return nil, err
	}
	if err := writeKubeconfig(kubeconfig, r.API.URL); err != nil {
		return nil, err
	}
	var env []string
	for _, variable := range append(w.Credentials(), w.Env...) {
		env = append(env, w.toRelay(variable, r.cloud))
	}
	flags = append([]string{"--api-share=inf", "--cloud-config=" + conf, "--kubeconfig=" + kubeconfig}, flags...)
	r.Process, err = w.launch(name, w.Binaries.Controller, env, flags)
	return r, err
}

// toRelay replaces the address of the simulator in a text with that of a relay.
func (w *World) toRelay(text string, to *Relay) string {
	return strings.ReplaceAll(text, strings.TrimPrefix(w.Sim.URL, "http://"), strings.TrimPrefix(to.URL, "http://"))
}

// redirect writes the cloud configuration with the address of a relay.
func (w *World) redirect(file string, to *Relay) error {
	conf, err := os.ReadFile(filepath.Join(w.Sim.Dir, "cloud.conf"))
	if err != nil {
		return err
	}
	redirected := w.toRelay(string(conf), to)
	if redirected == string(conf) {
		return fmt.Errorf("the cloud configuration does not name the simulator at %s: the program would not use the relay", w.Sim.URL)
	}
	return os.WriteFile(file, []byte(redirected), 0o600)
}

// writeKubeconfig writes a kubeconfig without credentials: the relay has them.
func writeKubeconfig(file, url string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["relay"] = &clientcmdapi.Cluster{Server: url}
	config.Contexts["relay"] = &clientcmdapi.Context{Cluster: "relay"}
	config.CurrentContext = "relay"
	return clientcmd.WriteToFile(*config, file)
}
