package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/berth-lb/berth/test/controlplane/binaries"
	"github.com/berth-lb/berth/test/controlplane/child"
)

// stopGrace is how long a program may take to end. The API server takes about a
// second when it has clients that watch.
const stopGrace = 5 * time.Second

// Info tells a client how to reach a running control plane. Its JSON form is what
// the command prints.
type Info struct {
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string `json:"kubeconfig"`
	// URL is the address of the API server.
	URL string `json:"url"`
	// Kubeconfigs are the paths for all tokens by name, admin among them.
	Kubeconfigs map[string]string `json:"kubeconfigs"`
	// AuditLog is the path of the audit log, empty without one.
	AuditLog string `json:"auditLog,omitempty"`
	// Logs is the folder of the programs' own logs.
	Logs string `json:"logs"`
	// Processes are the process ids by program name.
	Processes map[string]int `json:"processes"`
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	info    Info
	scratch *scratch
	spawner *child.Spawner
	port    *reservedPort
	// running are the processes in the order in which they were started.
	running []*process
	failed  chan error
	// restart starts the API server as it was started first.
	restart func(context.Context) error
}

// Start starts the programs and returns when the API server is ready. What it has
// started is stopped again when it returns an error.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return nil, err
	}
	o.Out = out
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	data, err := newScratch()
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{scratch: data, spawner: child.NewSpawner(), failed: make(chan error, len(binaries.All()))}
	if err := c.start(ctx, o); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Info returns how to reach the control plane.
func (c *ControlPlane) Info() Info { return c.info }

// Failed delivers an error when a program ends without a call of Stop.
func (c *ControlPlane) Failed() <-chan error { return c.failed }

// RestartAPIServer kills the API server, as a power cut would, and returns when a
// new one on the same data, address and certificate is ready.
func (c *ControlPlane) RestartAPIServer(ctx context.Context) error {
	name := binaries.APIServer().Name
	i := slices.IndexFunc(c.running, func(p *process) bool { return p.name == name })
	old := c.running[i]
	c.running = slices.Delete(c.running, i, i+1)
	old.kill()
	return c.restart(ctx)
}

// Stop stops the programs, the last started first, and removes the data. The API server stops
// before etcd because it would wait for etcd at its end.
func (c *ControlPlane) Stop() {
	for _, p := range slices.Backward(c.running) {
		p.stop(stopGrace)
	}
	c.spawner.Close()
	if c.port != nil {
		c.port.release()
	}
	c.scratch.remove()
}

func (c *ControlPlane) start(ctx context.Context, o Options) error {
	credentials := []credential{
		newCredential(Token{Name: admin, User: admin, Groups: []string{"system:masters"}}),
		// The user system:kube-controller-manager alone may not write
		// EndpointSlices: bootstrap RBAC gives that to a service account.
		newCredential(Token{Name: controllerManager, User: "system:kube-controller-manager", Groups: []string{"system:masters"}}),
	}
	for _, token := range o.Tokens {
		credentials = append(credentials, newCredential(token))
	}
	if err := c.writeInputs(o, credentials); err != nil {
		return err
	}
	port, err := reservePort()
	if err != nil {
		return err
	}
	c.port = port
	c.info = Info{
		URL:         fmt.Sprintf("https://127.0.0.1:%d", port.number),
		Kubeconfigs: map[string]string{},
		Logs:        o.Out,
		Processes:   map[string]int{},
	}
	if o.Audit {
		c.info.AuditLog = auditLog(o.Out)
	}
	launch := &launcher{spawner: c.spawner, data: c.scratch.dir, logs: o.Out}
	if err := c.startServers(ctx, launch, o, credentials[0]); err != nil {
		return err
	}
	if err := c.writeKubeconfigs(o.Out, credentials); err != nil {
		return err
	}
	if !o.EndpointSlices {
		return nil
	}
	name := binaries.ControllerManager().Name
	_, err = c.launch(launch, name, o.Binaries[name], controllerManagerArgs(c.internalKubeconfig()))
	return err
}

func (c *ControlPlane) startServers(ctx context.Context, l *launcher, o Options, asAdmin credential) error {
	name := binaries.Etcd().Name
	etcd, err := c.launch(l, name, o.Binaries[name], etcdArgs())
	if err != nil {
		return err
	}
	// The API server waits for etcd by itself, but its log is then full of refused connections,
	// and etcd is ready in a quarter of a second.
	if err := etcd.await(ctx, etcdReady(l.data)); err != nil {
		return err
	}
	c.restart = func(ctx context.Context) error {
		name := binaries.APIServer().Name
		server, err := c.launch(l, name, o.Binaries[name], apiServerArgs(o, c.port.number))
		if err != nil {
			return err
		}
		return server.await(ctx, apiServerReady(l.data, c.info.URL, asAdmin))
	}
	return c.restart(ctx)
}

func (c *ControlPlane) launch(l *launcher, name, path string, args []string) (*process, error) {
	p, err := l.start(name, path, args)
	if err != nil {
		return nil, err
	}
	c.running = append(c.running, p)
	c.info.Processes[name] = p.cmd.Process.Pid
	go func() {
		<-p.ended
		if !p.unwanted.Load() {
			c.failed <- p.endedError()
		}
	}()
	return p, nil
}

// writeInputs writes the files that the programs read at their start.
func (c *ControlPlane) writeInputs(o Options, credentials []credential) error {
	if err := writeTokens(filepath.Join(c.scratch.dir, tokensFile), credentials); err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	if err := writeServiceAccountKey(filepath.Join(c.scratch.dir, keyFile)); err != nil {
		return fmt.Errorf("service account key: %w", err)
	}
	// Logs are appended to; those of an earlier run in the same folder would be
	// counted as this one's.
	logs := []string{auditLog(o.Out)}
	for _, component := range binaries.All() {
		logs = append(logs, programLog(o.Out, component.Name))
	}
	for _, log := range logs {
		if err := os.RemoveAll(log); err != nil {
			return fmt.Errorf("log: %w", err)
		}
	}
	if !o.Audit {
		return nil
	}
	return writeJSON(filepath.Join(c.scratch.dir, policyFile), auditPolicy())
}

func (c *ControlPlane) internalKubeconfig() string {
	return filepath.Join(c.scratch.dir, controllerManager+".kubeconfig")
}

// writeKubeconfigs writes a kubeconfig per token. The server's certificate file
// holds the certificate of its authority as well, so it serves as the trust root.
func (c *ControlPlane) writeKubeconfigs(out string, credentials []credential) error {
	ca, err := os.ReadFile(filepath.Join(c.scratch.dir, certificate))
	if err != nil {
		return fmt.Errorf("server certificate: %w", err)
	}
	for _, each := range credentials {
		path := filepath.Join(out, each.Name+".kubeconfig")
		if each.Name == controllerManager {
			path = c.internalKubeconfig()
		} else {
			c.info.Kubeconfigs[each.Name] = path
		}
		if err := writeJSON(path, clientConfig(c.info.URL, ca, each)); err != nil {
			return err
		}
	}
	c.info.Kubeconfig = c.info.Kubeconfigs[admin]
	return nil
}
