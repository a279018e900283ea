package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// ControlPath is the prefix of the control API on a simulator's listener.
const ControlPath = "/_sim/"

// Control is the part of a simulator that tests talk to, from Go or over HTTP:
//
//	GET    /_sim/journal?since=N   the calls with a number above N
//	DELETE /_sim/journal           forget the calls
//	GET    /_sim/counts            calls per operation, and totals
//	GET    /_sim/faults            armed faults by id
//	POST   /_sim/faults            arm a Fault; answers {"id": N}
//	DELETE /_sim/faults[?id=N]     disarm one or all
//	GET    /_sim/throttle          the buckets
//	POST   /_sim/throttle          set a list of Buckets; [] switches off
//	GET    /_sim/rates             the vendor's documented buckets
//	POST   /_sim/rates             throttle by them
//	GET    /_sim/state             everything the simulator holds
//
// The zero value is ready; the fields are safe for concurrent use.
type Control struct {
	Journal  Journal
	Faults   Faults
	Throttle Throttle
	// Rates are the buckets that the vendor documents; set them before serving.
	Rates []Bucket
	// State makes the dump for /_sim/state; set it before serving.
	State func() any
	// Rewrite changes the bodies of answers; set it before serving. Nil: they stay.
	Rewrite func(body []byte) []byte
}

// ServeHTTP answers the control API.
func (c *Control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	result, err := c.serve(r)
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		result = map[string]string{"error": err.Error()}
	} else if result == nil {
		w.WriteHeader(http.StatusNotFound)
		result = map[string]string{"error": r.Method + " " + r.URL.Path + ": no such control call"}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	// A disconnected client is no fault of the simulator.
	_ = enc.Encode(result)
}

func (c *Control) serve(r *http.Request) (any, error) {
	done := map[string]bool{"ok": true}
	switch r.Method + " " + strings.TrimPrefix(r.URL.Path, ControlPath) {
	case "GET journal":
		since, err := intParam(r, "since")
		return append([]Entry{}, c.Journal.Since(since)...), err
	case "DELETE journal":
		c.Journal.Reset()
		return done, nil
	case "GET counts":
		return map[string]any{"operations": c.Journal.Counts(), "calls": c.Journal.Calls(), "writes": c.Journal.Writes()}, nil
	case "GET faults":
		return c.Faults.List(), nil
	case "POST faults":
		return c.arm(r)
	case "DELETE faults":
		return done, c.disarm(r)
	case "GET throttle":
		return c.Throttle.List(), nil
	case "POST throttle":
		var buckets []Bucket
		if err := json.NewDecoder(r.Body).Decode(&buckets); err != nil {
			return nil, fmt.Errorf("throttle body: %w", err)
		}
		return done, c.Throttle.Set(buckets...)
	case "GET rates":
		return append([]Bucket{}, c.Rates...), nil
	case "POST rates":
		return done, c.Limit()
	case "GET state":
		if c.State == nil {
			return struct{}{}, nil
		}
		return c.State(), nil
	}
	return nil, nil
}

// Limit throttles at the rates that the vendor documents.
func (c *Control) Limit() error { return c.Throttle.Set(c.Rates...) }

func (c *Control) arm(r *http.Request) (any, error) {
	var f Fault
	if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
		return nil, fmt.Errorf("fault body: %w", err)
	}
	id, err := c.Faults.Add(f)
	return map[string]int{"id": id}, err
}

func (c *Control) disarm(r *http.Request) error {
	if !r.URL.Query().Has("id") {
		c.Faults.Clear()
		return nil
	}
	id, err := intParam(r, "id")
	if err != nil {
		return err
	}
	if !c.Faults.Remove(id) {
		return fmt.Errorf("fault %d: not armed", id)
	}
	return nil
}

func intParam(r *http.Request, name string) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s %q: want a number", name, text)
	}
	return n, nil
}
