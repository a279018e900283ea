package wire

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

const (
	// refusedAge is how long a refused name is reported without another try, for the first
	// time; then twice as long, each time. The name may be valid by then: a certificate is
	// refused until it is issued.
	refusedAge = 5 * time.Minute
	// refusedMost is the longest.
	refusedMost = time.Hour
)

// refusedNames remember what AWS did not have when a step named it. No list shows these
// things to the roles of the official controllers. What one Service is refused says nothing
// to another, which may use it otherwise. The zero value remembers nothing; it is safe for
// concurrent use.
type refusedNames struct {
	mu sync.Mutex
	by map[string]refusal
}

// refusal is when a name was refused, and how long that is believed.
type refusal struct {
	at  time.Time
	age time.Duration
}

func (r *refusedNames) learn(now time.Time, o stack.Owner, names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string]refusal{}
	}
	for _, name := range names {
		key := model.RefusedTo(o, name)
		r.by[key] = refusal{now, min(max(refusedAge, 2*r.by[key].age), refusedMost)}
	}
}

// lately lists what was refused and not tried again yet, each to its Service.
func (r *refusedNames) lately(now time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for name, last := range r.by {
		switch since := now.Sub(last.at); {
		case since < last.age:
			out = append(out, name)
		case since > 2*refusedMost:
			delete(r.by, name)
		}
	}
	return out
}

// learnRefused remembers which names of a step AWS does not have. What it may only not have
// yet, as a group that was just made, is no refusal.
func (s *Session) learnRefused(step plan.Step, o plan.Outcome) {
	note := func(content any, err error) {
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Meaning != fault.Invalid {
			return
		}
		if names := refusedIn(content, f); len(names) > 0 {
			s.facts.refused.learn(s.now(), step.ID.Owner, names)
			f.Learned = true
		}
	}
	content := []any{step.Target.Spec}
	for _, part := range step.With {
		content = append(content, part.Spec)
	}
	if add, _ := plan.Members[any](step); len(add) > 0 {
		content = add
	}
	note(content, o.Err)
	for _, m := range o.Refused {
		note(m.Member, m.Err)
	}
}

// refusedIn returns the names in a request that a refusal is about: the ones that its
// text contains, or else the only one.
func refusedIn(content any, f *fault.Fault) []string {
	names := namesFor(f.Code)
	sent, err := json.Marshal(content)
	if names == nil || err != nil {
		return nil
	}
	var all []string
	for _, found := range names.FindAllStringSubmatch(string(sent), -1) {
		all = append(all, found[1])
	}
	all = eachOnce(all)
	if said := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !strings.Contains(f.Text, name) }); len(said) > 0 {
		return said
	}
	if len(all) != 1 {
		return nil
	}
	return all
}

// namesFor finds the names that a code is about in what was sent; nil: it is about no
// name. Sources: as of meaningOf.
func namesFor(code string) *regexp.Regexp {
	switch code {
	case "CertificateNotFound", "UnsupportedCertificate":
		return regexp.MustCompile(`"(arn:[^"]+)"`)
	case "SSLPolicyNotFound":
		return regexp.MustCompile(`"SSLPolicy":"([^"]+)"`)
	case "InvalidConfigurationRequest": // of a Classic Load Balancer's own policy, which refers to one of AWS
		return regexp.MustCompile(`"Reference-Security-Policy":"([^"]+)"`)
	case "AllocationIdNotFound":
		return regexp.MustCompile(`"(eipalloc-[^"]+)"`)
	case "InvalidPrefixListId.NotFound", "InvalidPrefixListID.NotFound", "InvalidPrefixListId.Malformed":
		return regexp.MustCompile(`"(pl-[^"]+)"`)
	case "InvalidSecurityGroup":
		return regexp.MustCompile(`"(sg-[^"]+)"`)
	}
	return nil
}
