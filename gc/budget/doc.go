// Package budget recomputes the allocation budgets of the runtime's collector: how much may be
// allocated in a generation until the next collection of it. The rule is in dynamic_tuning.cpp
// (desired_new_allocation, compute_new_dynamic_data; before .NET 11 in gc.cpp), and what all
// heaps of server GC are given in collect.cpp (gc1) and dynamic_heap_count.cpp
// (process_datas_sample).
package budget
