package reconcile

// Forecast says in words what the plan of a draft does not hold yet, because it follows
// from what the cloud chooses while the plan is performed.
func (r *Reconciler) Forecast(d *Draft) []string {
	if r.cloud.Forecast == nil || d.Want == nil || d.Clean || d.Intent != Serve {
		return nil
	}
	return r.cloud.Forecast(d.Request, d.Facts, d.Have)
}
