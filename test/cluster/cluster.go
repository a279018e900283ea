package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// admin is the name of the administrator's token.
	admin = "admin"
	// stopGrace is more than the command takes to stop three programs that all
	// have to be killed.
	stopGrace = 30 * time.Second
	// stderrTail is how much of the command's talk an error repeats, in lines.
	stderrTail = 30
	// Tests wait for the server, not for the client's own throttling, whose
	// default is 5 requests a second.
	clientQPS   = 5000
	clientBurst = 10000
)

// Cluster is a running control plane. Its methods may be called by several
// goroutines, but for RestartAPIServer.
type Cluster struct {
	info      info
	restarted chan info // what the command prints after each restart
	dir       string
	removeDir bool
	cmd       *exec.Cmd
	stdin     io.WriteCloser
	said      *tail
	// ended is closed after the command has ended and endedBy is set.
	ended   chan struct{}
	endedBy error
	stop    func() error
	// services returns the copy of the Services; the first call begins it.
	services func() (cache.Store, error)
}

// info is what the command prints when the control plane is ready.
type info struct {
	URL         string            `json:"url"`
	Kubeconfigs map[string]string `json:"kubeconfigs"`
	AuditLog    string            `json:"auditLog"`
	Processes   map[string]int    `json:"processes"`
}

// Start starts a control plane and returns when its API server is ready. The
// context bounds the start, which compiles the programs when the machine has none
// yet; the control plane then runs until Stop or the end of this process.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	path, err := planeCommand(ctx)
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: o.Dir, said: &tail{out: o.progress()}, restarted: make(chan info, 1), ended: make(chan struct{})}
	c.stop, c.services = sync.OnceValue(c.shutdown), sync.OnceValues(c.watchServices)
	if c.dir == "" {
		c.removeDir = true
		if c.dir, err = os.MkdirTemp("", "berth-cluster-"); err != nil {
			return nil, err
		}
	}
	if c.dir, err = filepath.Abs(c.dir); err != nil {
		return nil, err
	}
	ready, err := c.run(path, o.args(c.dir))
	if err != nil {
		return nil, errors.Join(err, c.cleanUp())
	}
	select {
	case answer := <-ready:
		err = answer
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		_ = c.Stop()
		return nil, fmt.Errorf("control plane: start: %w\n%s", err, c.said)
	}
	return c, nil
}

// run starts the command. The channel receives nil when the control plane is
// ready, or the error that kept it from it.
func (c *Cluster) run(path string, args []string) (<-chan error, error) {
	c.cmd = exec.Command(path, args...)
	c.cmd.Stderr = &lineWriter{write: c.said.add}
	// Ctrl-C at a terminal reaches only this process, which may need the API server until its
	// own clean-up is done.
	c.cmd.SysProcAttr = ownGroup()
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	c.stdin = stdin
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("control plane command: %w", err)
	}
	ready := make(chan error, 1)
	go func() {
		lines := bufio.NewReader(stdout)
		ready <- readInfo(lines, &c.info)
		// The pipe must be empty before Wait, which closes it.
		for again := (info{}); readInfo(lines, &again) == nil; again = (info{}) {
			c.restarted <- again
		}
		_, _ = io.Copy(io.Discard, lines)
		c.endedBy = c.cmd.Wait()
		close(c.ended)
	}()
	return ready, nil
}

func readInfo(stdout *bufio.Reader, into *info) error {
	line, err := stdout.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return errors.New("the command ended before it was ready")
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

// RestartAPIServer kills the API server, as a power cut would, and returns when a
// new one with the same data and address is ready. Only a control plane that no
// other test uses may be treated so.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	if _, err := io.WriteString(c.stdin, "restart\n"); err != nil {
		return fmt.Errorf("control plane: restart: %w", err)
	}
	select {
	case c.info = <-c.restarted:
		return nil
	case <-c.ended:
		return fmt.Errorf("control plane: it ended instead of a restart\n%s", c.said)
	case <-ctx.Done():
		return fmt.Errorf("control plane: restart: %w", ctx.Err())
	}
}

// Stop stops the control plane and returns when its processes have ended. It returns an error
// if one of the programs had ended before. Later calls do nothing and return the result of
// the first one.
func (c *Cluster) Stop() error { return c.stop() }

func (c *Cluster) shutdown() error {
	// The command stops everything when its standard input is closed.
	_ = c.stdin.Close()
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
		_ = c.cmd.Process.Kill()
		<-c.ended
	}
	if c.endedBy != nil {
		return errors.Join(fmt.Errorf("control plane: %w\n%s", c.endedBy, c.said), c.cleanUp())
	}
	return c.cleanUp()
}

// hasEnded reports whether the control plane has ended, so that there is nothing to clean up.
func (c *Cluster) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

func (c *Cluster) cleanUp() error {
	if !c.removeDir {
		return nil
	}
	return os.RemoveAll(c.dir)
}

// URL is the address of the API server.
func (c *Cluster) URL() string { return c.info.URL }

// Dir is the folder of kubeconfigs and logs.
func (c *Cluster) Dir() string { return c.dir }

// AuditLog is the path of the audit log, one JSON object per line; empty without
// Options.Audit. A request is finished when its stage is ResponseComplete.
func (c *Cluster) AuditLog() string { return c.info.AuditLog }

// Processes returns the process ids of the programs by name, for tests that
// measure or disturb them.
func (c *Cluster) Processes() map[string]int { return maps.Clone(c.info.Processes) }

// Kubeconfig returns the path of a token's kubeconfig; an empty name means the
// administrator. The file exists only for the names in Options.
func (c *Cluster) Kubeconfig(name string) string {
	if name == "" {
		name = admin
	}
	return filepath.Join(c.dir, name+".kubeconfig")
}

// RESTConfig returns a client configuration for a token, with a request rate that
// no test reaches; an empty name means the administrator. It is an error when
// Options had no such token.
func (c *Cluster) RESTConfig(name string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig(name))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %q: %w", name, err)
	}
	config.QPS, config.Burst = clientQPS, clientBurst
	return config, nil
}

// Impersonate returns a configuration for any user, with the rights that are
// bound to the user, the groups and system:authenticated. Unlike a token it needs
// nothing in Options.
func (c *Cluster) Impersonate(user string, groups ...string) (*rest.Config, error) {
	config, err := c.RESTConfig(admin)
	if err != nil {
		return nil, err
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	return config, nil
}

// Client returns a client with the administrator's rights.
func (c *Cluster) Client() (kubernetes.Interface, error) {
	config, err := c.RESTConfig(admin)
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf // half the work of JSON, for the server as well
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return kubernetes.NewForConfig(config)
}

// tail hands lines on and remembers the last ones for errors.
type tail struct {
	out   io.Writer
	mu    sync.Mutex
	lines []string
}

func (t *tail) add(line []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, string(line))
	if len(t.lines) > stderrTail {
		t.lines = t.lines[1:]
	}
	_, _ = t.out.Write(line)
}

// String returns the remembered lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "")
}
