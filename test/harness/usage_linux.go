package harness

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has taken from the machine so far.
type Usage struct {
	Resident int64         // bytes in memory now
	Peak     int64         // bytes in memory at most
	Own      int64         // bytes in memory now that are not those of files, such as the program
	CPU      time.Duration // of all its threads, in user and kernel mode
}

// clockTick is the unit of times in /proc/PID/stat. It is 100 Hz on every
// platform that Go runs on. Source: proc(5), getconf CLK_TCK.
const clockTick = 10 * time.Millisecond

// Usage reads what the process has used. It is an error when it has ended.
func (p *Process) Usage() (Usage, error) {
	folder := "/proc/" + strconv.Itoa(p.cmd.Process.Pid)
	status, err := os.ReadFile(folder + "/status")
	if err != nil {
		return Usage{}, fmt.Errorf("%s: usage: %w", p.Name, err)
	}
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return Usage{}, fmt.Errorf("%s: usage: %w", p.Name, err)
	}
	ticks, err := cpuTicks(stat)
	if err != nil {
		return Usage{}, fmt.Errorf("%s: usage: %w", p.Name, err)
	}
	return Usage{Resident: parseKibibytes(status, "VmRSS:"), Peak: parseKibibytes(status, "VmHWM:"), Own: parseKibibytes(status, "RssAnon:"), CPU: time.Duration(ticks) * clockTick}, nil
}

// parseKibibytes reads a line such as "VmRSS: 1234 kB" and returns bytes.
func parseKibibytes(status []byte, field string) int64 {
	for line := range strings.Lines(string(status)) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == field {
			n, _ := strconv.ParseInt(words[1], 10, 64) // the kernel writes digits
			return n << 10
		}
	}
	return 0
}

// cpuTicks adds the 14th and 15th field of /proc/PID/stat. The second field is the
// name in brackets and may hold spaces, so fields are counted from behind it.
func cpuTicks(stat []byte) (int64, error) {
	const user, system = 14 - 3, 15 - 3
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= system {
		return 0, fmt.Errorf("stat: %d fields", len(fields))
	}
	u, err := strconv.ParseInt(fields[user], 10, 64)
	if err != nil {
		return 0, err
	}
	s, err := strconv.ParseInt(fields[system], 10, 64)
	return u + s, err
}
