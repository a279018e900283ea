package kit

import "time"

// gentle is the number of small steps by which a learned duration moves down.
const gentle = 4

// pace decides when to poll the state of a change: the observed durations of changes, and
// the bounds of the pauses between polls. Without a declared duration the bounds are
// those of changes of up to ten seconds.
type pace struct {
	declared time.Duration // 0: not declared
	each     bool          // a question is about one resource
	page     int           // so many resources are in one question; 0: all
	rest     time.Duration // least pause between two questions
	first    time.Duration // least age of a change at its first question

	tried bool          // the first change has been asked for; declared only
	usual time.Duration // hardly any change is quicker
	hits  int           // first questions in a row that found the change ended
	moved time.Time     // when usual has moved last; declared only
}

// shared returns how long a question that several changes share is put off: less than the
// delay of a twentieth that is accepted, since changes differ.
func (p *pace) shared() time.Duration { return max(p.usual/30, 400*time.Millisecond) }

// begin returns the age of a change at which it is first asked for. The first change of a process
// is asked for early, so that a cloud that is quicker than declared costs no wait of that length.
func (p *pace) begin() time.Duration {
	if p.declared > 0 && !p.tried {
		p.tried = true
		return min(p.declared/8, latest)
	}
	most := latest
	switch {
	case p.declared > 0:
		most = max(latest, 2*p.declared)
	case p.each:
		most = latestAlone
	}
	return min(max(p.usual, p.first), most)
}

// spacing returns the least pause between two questions that are shared by several changes.
func (p *pace) spacing() time.Duration {
	if p.declared > 0 {
		return max(p.rest, min(p.usual/4, p.shared()))
	}
	return min(max(p.usual/4, p.rest), widest)
}

// patience returns how long a question is put off until it is about a whole page.
func (p *pace) patience() time.Duration { return min(max(p.usual/4, p.rest), widest) }

// again returns the pause after a question about a change of an age that has not ended. It
// grows with the age beyond the usual duration, and has a bound, so that a change of any
// length is asked for until it ends.
func (p *pace) again(age time.Duration) time.Duration {
	if p.declared > 0 {
		if age < p.usual {
			return max(p.rest, p.usual-age)
		}
		return min(max(p.rest, p.usual/28, (age-p.usual)/4), max(longest, p.declared/4))
	}
	pause := age / 4
	if p.each {
		pause = age / 2
	}
	return min(max(pause, p.rest), longest)
}

// caution returns how much of a measured duration is trusted, in percent. A question that
// finds a change under way costs more where it is about one resource.
func (p *pace) caution() time.Duration {
	if p.each {
		return 99
	}
	return 95
}

// learn records that a change that began at a time took longer than busy and at most age.
func (p *pace) learn(began time.Time, busy, age time.Duration) {
	switch {
	case p.declared > 0:
		p.approach(began, busy, age)
	case busy == 0 && (p.usual == 0 || age <= p.usual*5/4):
		p.usual = min(age, max(p.usual, p.first)) * p.caution() / 100
	case busy > 0 && p.each:
		p.usual = (busy + age) / 2
	case busy > 0:
		p.usual += ((busy+age)/2 - p.usual) / 4
	}
}

// approach moves the usual duration into the measured interval. While first questions find
// changes ended, it moves down: a change may have ended long before. The first steps are half a
// percent, since a question too early costs one more; then they double, up to a quarter. Where a
// question is about one resource, each step is tried first: a hundred changes that began before it
// are one measurement.
func (p *pace) approach(began time.Time, busy, age time.Duration) {
	if busy >= p.usual {
		p.hits, p.usual, p.moved = 0, (busy+age)/2, began.Add(age)
		return
	}
	p.usual = min(p.usual, age)
	if p.each && began.Before(p.moved) {
		return
	}
	p.moved = began.Add(age)
	p.usual = max(busy, p.usual-p.usual*time.Duration(min(1<<max(0, p.hits-gentle), 50))/200)
	p.hits = min(p.hits+1, gentle+6)
}
