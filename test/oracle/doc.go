// Command oracle compares the simulated OpenStack with a real one. It starts the API
// servers of Keystone, Neutron and Octavia from Debian's packages, on sqlite and the
// loopback interface, sends both clouds the same requests, and fails if an answer
// differs; and it lets Berth create, change and delete Services on the real one, and
// replays faults there that once took traffic away or opened a listener.
//
// Keystone and Neutron are as they are. Octavia's API is, too; behind it is a driver
// that only lets time pass, so nothing carries traffic. Not covered are Barbican and
// Nova, the limits of single drivers, and how the clouds do under load.
//
// Packages that are missing are installed where that is possible: on Debian, as root,
// and if they come within some minutes. Where it is not, the program says so and ends
// well, having compared nothing.
//
// Start at main. The requests are in probe.txt, one a line; the servers are in the
// folder servers.
package main
