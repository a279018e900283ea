package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Process is a program under test. Its output is written to a file.
type Process struct {
	Name string
	Log  string // path of the file with its output
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how it ended; read after done
}

// startProcess runs a program with its output in dir/name.log. If first is not nil it
// receives the first line of standard output.
func startProcess(name, dir string, env []string, first chan<- string, program string, args ...string) (*Process, error) {
	p := &Process{Name: name, Log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	out, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = out
	p.cmd.SysProcAttr = dieWithUs()
	p.cmd.Stdout = out
	var pipe io.Reader
	if first != nil {
		p.cmd.Stdout = nil
		if pipe, err = p.cmd.StdoutPipe(); err != nil {
			return nil, err
		}
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		if pipe != nil {
			firstLine(pipe, out, first)
		}
		p.err = p.cmd.Wait()
		_ = out.Close() // the process that wrote to it has ended
		close(p.done)
	}()
	return p, nil
}

// firstLine passes the first line on and copies everything to the log.
func firstLine(pipe io.Reader, log io.Writer, first chan<- string) {
	lines := bufio.NewReader(io.TeeReader(pipe, log))
	line, _ := lines.ReadString('\n') // an empty line tells that there was none
	first <- line
	_, _ = io.Copy(io.Discard, lines) // until the process closes it
}

// Running reports whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Freeze stops the process where it is, as a machine that is paused does.
func (p *Process) Freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (p *Process) Thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Stop asks the process to end and waits; it is killed after the time is over.
// The error says how it ended if that was not by itself with status 0.
func (p *Process) Stop(patience time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only if it has ended
	select {
	case <-p.done:
		if p.early() {
			return nil
		}
		return p.err
	case <-time.After(patience):
		p.Kill()
		return errors.New(p.Name + ": did not stop in time and was killed")
	}
}

// early tells that the process ended by the signal because it was asked to end before it
// had begun its work, and so before it listens for signals.
func (p *Process) early() bool {
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return false
	}
	how, ok := exit.Sys().(syscall.WaitStatus)
	if !ok || !how.Signaled() || how.Signal() != syscall.SIGTERM {
		return false
	}
	said, err := os.ReadFile(p.Log)
	return err == nil && !bytes.Contains(said, []byte("service loop is running"))
}

// Kill ends the process without warning, as a power cut would.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails only if it has ended
	<-p.done
}

// awaitLine returns the line, or an error when the process ends before, or the context
// does.
func awaitLine(ctx context.Context, p *Process, line <-chan string) (string, error) {
	select {
	case l := <-line:
		if l == "" {
			return "", fmt.Errorf("%s: ended without a word, see %s", p.Name, p.Log)
		}
		return l, nil
	case <-ctx.Done():
		return "", fmt.Errorf("%s: %w", p.Name, ctx.Err())
	}
}

// Output is what the process has written so far, of both streams.
func (p *Process) Output() string {
	body, err := os.ReadFile(p.Log)
	if err != nil {
		return ""
	}
	return string(body)
}
