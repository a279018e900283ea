package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"text/template"
	"time"
)

//go:embed servers
var servers embed.FS

const (
	// settling is how long a load balancer of the real cloud is PENDING.
	settling = 300 * time.Millisecond
	// startTime bounds how long a server may take until it answers.
	startTime     = 5 * time.Minute
	adminPassword = "oracle"
)

// deployment is a running OpenStack.
type deployment struct {
	Dir                         string
	Keystone, Neutron, Octavia  int    // ports of the servers
	Identity, Network, Balancer string // addresses to ask, which keep a journal
	Password                    string

	journal *journal
	running []*exec.Cmd
}

// startReal makes and starts everything in a folder. The cloud that it returns on an
// error is to be stopped as well.
func startReal(ctx context.Context, dir string) (*deployment, error) {
	r := &deployment{Dir: dir, Password: adminPassword, journal: newJournal()}
	free, err := freePorts(ctx, 3)
	if err != nil {
		return r, err
	}
	r.Keystone, r.Neutron, r.Octavia = free[0], free[1], free[2]
	for i, address := range []*string{&r.Identity, &r.Network, &r.Balancer} {
		// Keystone serves one request at a time, and Octavia's server lets writes take turns.
		if *address, err = r.journal.front(ctx, free[i], address == &r.Network); err != nil {
			return r, err
		}
	}
	r.Identity += "/v3"
	if err := r.unpack(); err != nil {
		return r, err
	}
	if err := r.prepareKeystone(ctx); err != nil {
		return r, err
	}
	err = r.launch(ctx)
	return r, err
}

// freePorts returns ports below the range that systems use for outgoing connections.
func freePorts(ctx context.Context, n int) ([]int, error) {
	var out []int
	for port := 20000 + os.Getpid()%8000; len(out) < n && port < 32000; port++ {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return nil, err
		}
		out = append(out, port)
	}
	if len(out) < n {
		return nil, errors.New("no free ports")
	}
	return out, nil
}

// unpack writes the files of the servers, configurations with what they must know.
func (r *deployment) unpack() error {
	configurations, err := template.ParseFS(servers, "servers/*.conf", "servers/*.ini")
	if err != nil {
		return err
	}
	for _, t := range configurations.Templates() {
		var out bytes.Buffer
		if err := t.Execute(&out, r); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.Dir, t.Name()), out.Bytes(), 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{"keystone.py", "neutron.py", "octavia.py"} {
		body, err := servers.ReadFile("servers/" + name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.Dir, name), body, 0o600); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(r.Dir, "neutron"), 0o700)
}

// prepareKeystone makes its tables, keys and administrator, one after the other.
func (r *deployment) prepareKeystone(ctx context.Context) error {
	// Without this a reader would keep writers out.
	wal := "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode=WAL')"
	if body, err := exec.CommandContext(ctx, python, "-c", wal, filepath.Join(r.Dir, "keystone.db")).CombinedOutput(); err != nil {
		return fmt.Errorf("keystone.db: %w\n%s", err, body)
	}
	me := []string{"--keystone-user", strconv.Itoa(os.Getuid()), "--keystone-group", strconv.Itoa(os.Getgid())}
	for _, args := range [][]string{
		{"db_sync"}, append([]string{"fernet_setup"}, me...), append([]string{"credential_setup"}, me...),
		{
			"bootstrap", "--bootstrap-password", r.Password, "--bootstrap-region-id", region,
			"--bootstrap-public-url", r.Identity, "--bootstrap-internal-url", r.Identity, "--bootstrap-admin-url", r.Identity,
		},
	} {
		args = append([]string{"/usr/bin/keystone-manage", "--config-file", filepath.Join(r.Dir, "keystone.conf")}, args...)
		if body, err := exec.CommandContext(ctx, python, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("keystone-manage %s: %w\n%s", args[3], err, body)
		}
	}
	return nil
}

// launch starts the servers and waits until each answers.
func (r *deployment) launch(ctx context.Context) error {
	file := func(name string) string { return filepath.Join(r.Dir, name) }
	for name, args := range map[string][]string{
		"keystone": {strconv.Itoa(r.Keystone)},
		"neutron":  {file("neutron.conf"), file("neutron.db")},
		"octavia":  {file("octavia.conf"), strconv.Itoa(r.Octavia), file("octavia.db"), strconv.FormatFloat(settling.Seconds(), 'f', -1, 64), file("hold"), file("slow")},
	} {
		log, err := os.Create(file(name + ".out"))
		if err != nil {
			return err
		}
		// -P keeps the folder out of the search path: its files are named like packages.
		cmd := exec.CommandContext(context.WithoutCancel(ctx), python, append([]string{"-P", "-W", "ignore", file(name + ".py")}, args...)...)
		cmd.Stdout, cmd.Stderr = log, log
		cmd.Env = append(os.Environ(), "OS_KEYSTONE_CONFIG_DIR="+r.Dir, "PYTHONDONTWRITEBYTECODE=1", "no_proxy=127.0.0.1", "NO_PROXY=127.0.0.1")
		if err := cmd.Start(); err != nil {
			return err
		}
		r.running = append(r.running, cmd)
	}
	for name, port := range map[string]int{"keystone": r.Keystone, "neutron": r.Neutron, "octavia": r.Octavia} {
		if err := r.answers(ctx, port); err != nil {
			out, _ := os.ReadFile(file(name + ".out"))
			return fmt.Errorf("%s: %w\n%s", name, err, out[max(0, len(out)-2000):])
		}
	}
	return nil
}

// answers waits until a server answers anything but an error of its own.
func (r *deployment) answers(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", port), nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			err = res.Body.Close()
			if err == nil && res.StatusCode < http.StatusInternalServerError {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// stop ends the servers.
func (r *deployment) stop() {
	var all sync.WaitGroup
	for _, cmd := range r.running {
		all.Go(func() {
			// One that has ended already is as well.
			_ = cmd.Process.Signal(syscall.SIGTERM)
			late := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			_ = cmd.Wait()
		})
	}
	all.Wait()
	r.journal.close()
}
