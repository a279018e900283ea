// Package child starts processes that do not outlive this one, also when this one
// is killed without a chance to clean up.
//
// On Linux the kernel sends a child a chosen signal when the thread that started
// it ends. Goroutines move among threads, so every start happens on one thread
// that does nothing else and lives as long as the Spawner. Elsewhere only an
// orderly end stops the children. Start at NewSpawner.
package child
