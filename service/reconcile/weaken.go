package reconcile

// weakenRequest replaces a request that cannot be followed: no stack could be built for it, or only one
// that is not allowed, or no load balancer exists that could be kept.
func (r *Reconciler) weakenRequest(job Job, p Parsed, v View, tried Desired, last snapshot) (Parsed, phase, error) {
	if p.Intent == KeepServing {
		p.Intent = LeaveAlone
		return p, toEnd, nil
	}
	if !p.replaced {
		p.Problems = append(p.Problems, tried.problems...)
	}
	if tried.refused.Errors() {
		p.Refused = append(p.Refused, tried.refused...).Distinct()
		p.Problems = append(p.Problems, tried.refused...).Distinct()
		p = r.keepExisting(p)
	} else {
		p = r.fallBack(p, job, last)
		p.replaced = true
	}
	if p.Intent == LeaveAlone {
		return p, toEnd, nil
	}
	covers, err := r.covers(v, p)
	if err == nil && !covers {
		return p, toObserve, nil
	}
	return p, toBuild, err
}
