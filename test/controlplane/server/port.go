package server

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// reservedPort is a TCP port on 127.0.0.1 that the kernel assigns to no other process.
//
// The socket is bound but never listens, so it takes no connection away. The API server
// shares the port because both sides set SO_REUSEPORT. The usual way, to take a free port,
// close it and hope, fails when many test packages start.
type reservedPort struct {
	fd     int
	number int
}

func reservePort() (*reservedPort, error) {
	// The lock keeps a child that is started right now from inheriting the
	// socket before it is marked; not every system can do both in one call.
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("port: %w", err)
	}
	number, err := bindLoopback(fd)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("port: %w", err)
	}
	return &reservedPort{fd: fd, number: number}, nil
}

func bindLoopback(fd int) (int, error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	v4, ok := address.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("address %T is not IPv4", address)
	}
	return v4.Port, nil
}

func (p *reservedPort) release() { _ = unix.Close(p.fd) }
