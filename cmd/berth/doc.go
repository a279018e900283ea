// Command berth shows what Berth would do, and what it understands, without
// doing it.
//
// One file holds one verb: it reads flags, makes one call to package
// service/offline, and prints the result. Nothing is decided here. Start at
// [runCommand].
package main
