package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

// freePort asks the kernel for a port that nobody has.
func freePort(ctx context.Context) (int, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// heapProfile keeps what fills the memory after a phase in PROFILES, a folder, for
// go tool pprof. Without the variable it does nothing.
func (s *scale) heapProfile(ctx context.Context, phase string) error {
	folder := os.Getenv("PROFILES")
	if folder == "" {
		return nil
	}
	body, err := s.fetch(ctx, "/debug/pprof/heap")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, s.subject.kind+"-"+phase+".heap"), body, 0o600)
}

// cpuProfile keeps where the processor time of a phase's first seconds goes, in the
// same folder. Who calls what it returns waits for the end of it.
func (s *scale) cpuProfile(ctx context.Context, phase string) func() {
	folder := os.Getenv("PROFILES")
	if folder == "" {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := eventually(ctx, func(ctx context.Context) error { // it may have been started just now
			body, err := s.fetch(ctx, "/debug/pprof/profile?seconds=20")
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(folder, s.subject.kind+"-"+phase+".cpu"), body, 0o600)
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, "scale: profile of", phase+":", err)
		}
	}()
	return func() { <-done }
}

// fetch reads a page of the controller.
func (s *scale) fetch(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", s.port, path), nil)
	if err != nil {
		return nil, err
	}
	// The certificate is the one that the controller made for itself.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, res.Status)
	}
	return body, err
}
