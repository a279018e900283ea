package azure

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// peekTime is how long a new connection may take to send its first byte.
const peekTime = 30 * time.Second

// tlsHandshake is the first byte of every TLS connection. Source: RFC 8446, record layer.
const tlsHandshake = 0x16

// Authority is the self-signed certificate of a cloud.
type Authority struct {
	// PEM is what clients must trust.
	PEM []byte

	pair tls.Certificate
}

// newAuthority makes a certificate for the loopback names and the ones given.
func newAuthority(hosts []string, now time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificate key: %w", err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "simulated Azure"}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
		} else {
			tmpl.DNSNames = append(tmpl.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return &Authority{
		PEM:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
	}, nil
}

// Pool is a certificate pool with this certificate only.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.PEM)
	return pool
}

// Listener serves HTTP and HTTPS on one address: the first byte of a connection
// shows which of the two it is. Clients that request a token must use HTTPS, clients that
// only use one may use HTTP, and both reach the cloud under the same host.
func (c *Cloud) Listener(inner net.Listener) net.Listener {
	out := &sniffer{
		Listener: inner, conns: make(chan net.Conn), done: make(chan struct{}),
		config: &tls.Config{Certificates: []tls.Certificate{c.Authority.pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}},
	}
	go out.accept()
	return out
}

type sniffer struct {
	net.Listener
	config *tls.Config
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
	failed error
}

func (s *sniffer) accept() {
	for {
		conn, err := s.Listener.Accept()
		if err != nil {
			s.stop(err)
			return
		}
		go s.sniff(conn)
	}
}

func (s *sniffer) sniff(conn net.Conn) {
	peeked := &peekedConn{Conn: conn, reader: bufio.NewReader(conn)}
	first, err := byte(0), conn.SetReadDeadline(time.Now().Add(peekTime))
	if err == nil {
		var head []byte
		if head, err = peeked.reader.Peek(1); err == nil {
			first = head[0]
			err = conn.SetReadDeadline(time.Time{})
		}
	}
	out := net.Conn(peeked)
	if first == tlsHandshake {
		out = tls.Server(peeked, s.config)
	}
	if err == nil {
		select {
		case s.conns <- out:
			return
		case <-s.done:
		}
	}
	// The connection is not used any more.
	_ = conn.Close()
}

func (s *sniffer) stop(err error) {
	s.once.Do(func() {
		s.failed = err
		close(s.done)
	})
}

// Accept gives the next connection, ready for HTTP.
func (s *sniffer) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.done:
		return nil, s.failed
	}
}

// Close stops both the listener and the connections that wait for their first byte.
func (s *sniffer) Close() error {
	s.stop(net.ErrClosed)
	return s.Listener.Close()
}

// peekedConn gives back the byte that was looked at.
type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

func (p *peekedConn) Read(b []byte) (int, error) { return p.reader.Read(b) }
