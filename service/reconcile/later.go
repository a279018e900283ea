package reconcile

// Later says in words what the plan of a draft does not hold yet, because it follows
// from what the cloud chooses while the plan is performed.
func (r *Reconciler) Later(d *Draft) []string {
	if r.cloud.Later == nil || d.Want == nil || d.Clean || d.Intent != Serve {
		return nil
	}
	return r.cloud.Later(d.Request, d.Facts, d.Have)
}
