// Package handle tracks the reasons for objects to stay in place, or alive: GC handles,
// pins during collections, and finalization.
//
// Handles, Pins and Finalizers are models for gc/pass. Events of handles need the
// keyword GCHandle; events of pins and finalized objects need the keyword GC at level 5.
package handle
