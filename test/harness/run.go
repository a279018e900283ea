package harness

import "strconv"

// Run starts a program in the world with these arguments and nothing else, with
// the environment of this process and what is added to it. Close stops it.
func (w *World) Run(name, program string, env []string, args ...string) (*Process, error) {
	p, err := startProcess(name+"-"+strconv.Itoa(len(w.controllers)), w.Dir, env, nil, program, args...)
	if err != nil {
		return nil, err
	}
	w.controllers = append(w.controllers, p)
	return p, nil
}
