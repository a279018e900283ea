package kit

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// triples is how much faster, in calls a second, each accepted call makes a bucket whose rate is
	// not estimated yet: the rate triples every second.
	triples = 1
	// fullFor is how many seconds of its rate a cloud is assumed to accept at once.
	fullFor = 2.0
	// leastCalls is how many accepted calls an estimate needs, and leastFull how many it needs if the
	// cloud accepts some at once: fewer only show how many these are.
	leastCalls, leastFull = 5, 15
	// below is the share of an estimated rate that is used at first.
	below = 0.9
	// around is the range about an estimate, as a share of it, in which the bucket becomes faster slowly:
	// by the share probing with every call, or slowProbing every second.
	around, slowProbing = 0.05, 0.02
	// leaving is the share by which every accepted call makes a bucket faster that is beyond this range:
	// the estimate was too low.
	leaving = 0.03
	// idle is how long after a pause a bucket that is used has all of its tokens at most.
	idle = time.Second
	// restart is after how long without a call a bucket that was never refused one starts slowly again:
	// what the cloud has accepted before need not be its rate.
	restart = 10 * time.Second
)

// search is the search for the rate of a bucket without a documented one. It counts accepted calls
// while the bucket is used in full. The lock of the bucket is held.
type search struct {
	since    time.Time // since when it counts
	last     time.Time // when a call was sent last
	full     bool      // the cloud's bucket was full then; else a refusal had shown that it was empty
	accepted int
	refused  bool // there was a refusal
	assumed  bool // the last estimate rests on what a cloud is assumed to accept at once
}

// send records that a call is sent. If the bucket has had all of its tokens for a while, fewer calls were
// sent than it allows, and those of the past say nothing about the rate.
func (s *search) send(b *bucket, now time.Time) {
	if b.Rate <= 0 && b.Start > 0 && !s.refused && now.Sub(s.last) > restart && b.tokens.Limit() > rate.Limit(b.Start) {
		b.tokens.SetLimitAt(now, rate.Limit(b.Start))
	}
	s.last = now
	if b.Rate <= 0 && b.tokens.TokensAt(now) >= float64(b.tokens.Burst()) && now.Sub(b.closed) > idle {
		s.since, s.full, s.accepted = now, true, 0
	}
}

// growth returns how much faster, in calls a second, an accepted call makes the bucket.
func (s *search) growth(b *bucket, limit float64) float64 {
	switch {
	case !s.refused && b.tokens.TokensAt(b.now()) > float64(b.tokens.Burst()-1):
		return 0 // calls one by one say nothing about a crowd
	case b.ceiling == 0:
		return triples
	case limit < b.ceiling*(1-around):
		return b.unit() * recovery
	case limit < b.ceiling*(1+around):
		return b.unit() * min(probing, slowProbing/limit)
	}
	return limit * leaving
}

// slower returns the rate after a refusal, in calls a second.
func (s *search) slower(b *bucket, limit float64, now time.Time) float64 {
	estimate, first, misled := s.estimate(now), !s.refused, s.assumed
	*s = search{since: now, last: s.last, refused: true, assumed: s.full && estimate > 0}
	if first {
		b.tokens.SetBurstAt(now, guessedBurst)
	}
	switch {
	case estimate > 0:
		b.ceiling = estimate
		return min(estimate, limit) * below
	case first || misled:
		b.ceiling = 0
		return min(guessed, limit*backoff)
	}
	b.ceiling = limit
	return limit * backoff
}

// estimate returns the rate of the cloud as the accepted calls show it; 0: they are too few.
func (s *search) estimate(now time.Time) float64 {
	seconds, least := now.Sub(s.since).Seconds(), leastCalls
	if s.full {
		seconds, least = seconds+fullFor, leastFull
	}
	if s.accepted < least || seconds <= 0 {
		return 0
	}
	return float64(s.accepted) / seconds
}
