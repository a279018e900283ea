package server

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/berth-lb/berth/test/controlplane/child"
)

const (
	// readyWithin bounds the start of one program. It takes 3 seconds on two busy cores, and
	// minutes beside a dozen other control planes.
	readyWithin = 10 * time.Minute
	// probeEvery is the time between two questions whether a program is ready.
	probeEvery = 20 * time.Millisecond
	// logTail is how many bytes of a log an error shows.
	logTail = 3000
)

// process is one running program.
type process struct {
	name    string
	logPath string
	cmd     *exec.Cmd
	// ended is closed after the program has ended and err is set.
	ended chan struct{}
	err   error
	// unwanted processes have been asked to end.
	unwanted atomic.Bool
}

// launcher holds what all programs of one control plane have in common.
type launcher struct {
	spawner *child.Spawner
	// data is the working directory of the programs.
	data string
	// logs is the folder of their log files.
	logs string
}

// programLog is where a program's own log is.
func programLog(logs, name string) string { return filepath.Join(logs, name+".log") }

func (l *launcher) start(name, path string, args []string) (*process, error) {
	logPath := programLog(l.logs, name)
	// A restarted program appends to its log.
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(path, args...)
	cmd.Dir = l.data
	cmd.Stdout, cmd.Stderr = log, log
	// A child is killed, not asked, when this process has been killed: no process is left to
	// stop them in order, and the data is throw-away.
	if err := l.spawner.Start(cmd, syscall.SIGKILL); err != nil {
		return nil, fmt.Errorf("%s: start: %w", name, err)
	}
	p := &process{name: name, logPath: logPath, cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// await asks until the probe returns nil. It returns at once when the program
// ends, with the end of its log.
func (p *process) await(ctx context.Context, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return p.endedError()
		case <-ctx.Done():
			return fmt.Errorf("%s: not ready: %w (last answer: %w); end of %s:\n%s", p.name, ctx.Err(), err, p.logPath, p.tail())
		case <-ticker.C:
		}
	}
}

func (p *process) endedError() error {
	status := "exit status 0"
	if p.err != nil {
		status = p.err.Error()
	}
	return fmt.Errorf("%s: ended by itself: %s; end of %s:\n%s", p.name, status, p.logPath, p.tail())
}

// kill ends the program without asking.
func (p *process) kill() {
	p.unwanted.Store(true)
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// stop asks the program to end and kills it when it has not after the grace.
func (p *process) stop(grace time.Duration) {
	p.unwanted.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
		return
	case <-timer.C:
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) tail() string {
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		return err.Error()
	}
	if len(text) > logTail {
		text = text[len(text)-logTail:]
		if _, after, found := bytes.Cut(text, []byte("\n")); found {
			text = after
		}
	}
	return strings.TrimSpace(string(text))
}
