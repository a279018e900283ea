// Package refusals compares what users read about refusals of a cloud with a golden file. Start at
// [Check].
package refusals
