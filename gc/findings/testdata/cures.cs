// cures MODE SECONDS: programs with known trouble (…-bad) beside the same work after they followed advice (…-good).
// Each prints its own account at its end, as lab does.
using System; using System.Collections.Generic; using System.Diagnostics; using System.Globalization; using System.Linq; using System.Reflection; using System.Runtime.CompilerServices; using System.Runtime.InteropServices; using System.Text; using System.Threading;
public static class Cures {
  static readonly Stopwatch clock = Stopwatch.StartNew(); static double limit; static bool Done { get { return clock.Elapsed.TotalSeconds >= limit; } }
  static long work; public static object sink;
  static readonly Func<int,bool,byte[]> pinned = Of<Func<int,bool,byte[]>>(typeof(GC).GetMethods().Where(m => m.Name=="AllocateArray" && m.GetParameters().Length==2).Select(m => m.MakeGenericMethod(typeof(byte))).FirstOrDefault());
  static readonly Func<bool,long> allocated = (Func<bool,long>)typeof(GC).GetMethod("GetTotalAllocatedBytes").CreateDelegate(typeof(Func<bool,long>));
  static readonly Func<TimeSpan> paused = Of<Func<TimeSpan>>(typeof(GC).GetMethod("GetTotalPauseDuration"));
  static readonly Func<int,byte[]> rent; static readonly Action<byte[],bool> giveBack;
  static Cures() { var t = typeof(GC).Assembly.GetType("System.Buffers.ArrayPool`1").MakeGenericType(typeof(byte)); var shared = t.GetProperty("Shared").GetValue(null);
    rent = (Func<int,byte[]>)t.GetMethod("Rent").CreateDelegate(typeof(Func<int,byte[]>), shared); giveBack = (Action<byte[],bool>)t.GetMethod("Return").CreateDelegate(typeof(Action<byte[],bool>), shared); }
  static T Of<T>(MethodInfo m) where T : class { return m == null ? null : (T)(object)m.CreateDelegate(typeof(T)); }
  static void Garbage(int n, int size) { for (int i=0;i<n;i++) sink = new byte[size]; }
  public static int Main(string[] a) {
    limit = double.Parse(a[1], CultureInfo.InvariantCulture);
    typeof(Cures).GetMethod("M_"+a[0].Replace('-','_'), BindingFlags.Static|BindingFlags.NonPublic).Invoke(null, null);
    double took = clock.Elapsed.TotalSeconds; if (paused==null) Environment.Exit(0); // before .NET 7, without an account
    var kind = typeof(GC).Assembly.GetType("System.GCKind"); var info = typeof(GC).GetMethod("GetGCMemoryInfo", new[]{kind}).Invoke(null, new object[]{Enum.ToObject(kind,0)});
    var s = new StringBuilder("{\"mode\":\""+a[0]+"\",\"seconds\":"+took.ToString("F3")+",\"work\":"+work+",\"gen0\":"+GC.CollectionCount(0)+",\"gen1\":"+GC.CollectionCount(1)+",\"gen2\":"+GC.CollectionCount(2)+",\"pause_ms\":"+paused().TotalMilliseconds.ToString("F3")+",\"allocated\":"+allocated(true));
    foreach (var p in new[]{"HeapSizeBytes","FragmentedBytes","PromotedBytes","TotalCommittedBytes","PinnedObjectsCount"}) s.Append(",\""+p+"\":"+Convert.ToString(info.GetType().GetProperty(p).GetValue(info), CultureInfo.InvariantCulture));
    Console.WriteLine(s.Append("}")); Console.Out.Flush(); Environment.Exit(0); return 0; }

  // Large arrays of 100 to 160 kB: new ones, or rented and returned.
  static void M_large_bad() { var r = new Random(1); while (!Done) { var b = new byte[100000+r.Next(60000)]; b[0] = 1; sink = b; Garbage(20, 250); work++; } }
  static void M_large_good() { var r = new Random(1); while (!Done) { var b = rent(100000+r.Next(60000)); b[0] = 1; sink = b; Garbage(20, 250); giveBack(b, false); work++; } }
  // The same in pieces of 32 kB, which gen 0 takes.
  static void M_large_split() { var r = new Random(1); while (!Done) { int n = 100000+r.Next(60000); var parts = new List<byte[]>(); for (; n>0; n-=32768) parts.Add(new byte[Math.Min(n,32768)]); sink = parts; Garbage(20, 250); work++; } }
  // Arrays of 300 to 480 kB, beyond a threshold of 200,000 bytes.
  static void M_larger_bad() { var r = new Random(1); while (!Done) { var b = new byte[300000+r.Next(180000)]; b[0] = 1; sink = b; Garbage(20, 250); work++; } }
  // One text of 57 kB made by concatenation, or by a StringBuilder.
  static void M_text_bad() { while (!Done) { string s = ""; for (int i=0;i<3000;i++) s += "some text of a line "; sink = s; work++; } }
  static void M_text_good() { while (!Done) { var s = new StringBuilder(); for (int i=0;i<3000;i++) s.Append("some text of a line "); sink = s.ToString(); work++; } }
  // A dictionary of 150,000 entries: grown anew each time, with its capacity, or cleared and used again.
  static void M_dictionary_bad() { while (!Done) { var d = new Dictionary<int,object>(); for (int i=0;i<150000;i++) d[i] = null; sink = d; work++; } }
  static void M_dictionary_sized() { while (!Done) { var d = new Dictionary<int,object>(150000); for (int i=0;i<150000;i++) d[i] = null; sink = d; work++; } }
  static void M_dictionary_good() { var d = new Dictionary<int,object>(150000); while (!Done) { d.Clear(); for (int i=0;i<150000;i++) d[i] = null; work++; } }
  // A list of 150,000 numbers: grown anew each time, or with its capacity.
  static void M_list_bad() { while (!Done) { var d = new List<long>(); for (int i=0;i<150000;i++) d.Add(i); sink = d; work++; } }
  static void M_list_good() { var d = new List<long>(150000); while (!Done) { d.Clear(); for (int i=0;i<150000;i++) d.Add(i); work++; } }
  // Pinned arrays of 4 to 24 kB, 1,500 at a time: allocated anew, or in equal sizes and used again.
  static void M_poh_bad() { var keep = new List<byte[]>(); var r = new Random(2); while (!Done) { var b = pinned(4096+r.Next(20000), true); if (keep.Count<1500) keep.Add(b); else keep[r.Next(keep.Count)] = b; Garbage(5, 250); work++; } }
  static void M_poh_equal() { var keep = new List<byte[]>(); var r = new Random(2); while (!Done) { var b = pinned(24576, true); if (keep.Count<1500) keep.Add(b); else keep[r.Next(keep.Count)] = b; Garbage(5, 250); work++; } }
  static void M_poh_good() { var free = new Stack<byte[]>(); var keep = new List<byte[]>(); var r = new Random(2); while (!Done) { var b = free.Count>0 ? free.Pop() : pinned(24576, true); if (keep.Count<1500) keep.Add(b); else { int i = r.Next(keep.Count); free.Push(keep[i]); keep[i] = b; } Garbage(5, 250); work++; } }
  // 3,000 buffers of 4 kB in use by native code: pinned anew with a handle, in the pinned object heap, or pooled.
  static void M_pin_bad() { var q = new Queue<GCHandle>(); var r = new Random(5); while (!Done) { Garbage(40, 1500); q.Enqueue(GCHandle.Alloc(new byte[4096], GCHandleType.Pinned)); if (q.Count>3000) q.Dequeue().Free(); work++; } }
  static void M_pin_poh() { var q = new Queue<byte[]>(); while (!Done) { Garbage(40, 1500); q.Enqueue(pinned(4096, true)); if (q.Count>3000) q.Dequeue(); work++; } }
  static void M_pin_good() { var q = new Queue<byte[]>(); var free = new Stack<byte[]>(); while (!Done) { Garbage(40, 1500); q.Enqueue(free.Count>0 ? free.Pop() : pinned(4096, true)); if (q.Count>3000) free.Push(q.Dequeue()); work++; } }
  static void M_pin_pool() { var q = new Queue<GCHandle>(); var free = new Stack<byte[]>(); while (!Done) { Garbage(40, 1500); q.Enqueue(GCHandle.Alloc(free.Count>0 ? free.Pop() : new byte[4096], GCHandleType.Pinned)); if (q.Count>3000) { var h = q.Dequeue(); free.Push((byte[])h.Target); h.Free(); } work++; } }
  // Objects of many sizes that live for long and die one by one, or together in groups.
  static void M_mixed_bad() { var r = new Random(3); var keep = new byte[60000][]; while (!Done) { for (int i=0;i<1000;i++) keep[r.Next(keep.Length)] = new byte[100+r.Next(3000)]; work++; } GC.KeepAlive(keep); }
  static void M_mixed_equal() { var r = new Random(3); var keep = new byte[60000][]; while (!Done) { for (int i=0;i<1000;i++) keep[r.Next(keep.Length)] = new byte[1600]; work++; } GC.KeepAlive(keep); }
  static void M_mixed_reused() { var r = new Random(3); var keep = new byte[60000][]; for (int i=0;i<keep.Length;i++) keep[i] = new byte[3100]; while (!Done) { for (int i=0;i<1000;i++) { keep[r.Next(keep.Length)][0]++; sink = new byte[100+r.Next(3000)]; } work++; } GC.KeepAlive(keep); }
  static void M_mixed_good() { var r = new Random(3); var groups = new byte[60][][]; int n = 0; while (!Done) { var g = new byte[1000][]; for (int i=0;i<1000;i++) g[i] = new byte[100+r.Next(3000)]; groups[n++%60] = g; work++; } GC.KeepAlive(groups); }
  // Large arrays of many sizes, or of few from a pool, of which some live on.
  static void M_sizes_bad() { var keep = new List<byte[]>(); var r = new Random(1); while (!Done) { var b = new byte[90000+(int)(work*50%2000000)]; if (r.Next(8)==0) keep.Add(b); if (keep.Count>120) keep.RemoveAt(r.Next(keep.Count)); sink = b; Garbage(100, 200); work++; } }
  static void M_sizes_good() { var keep = new List<byte[]>(); var r = new Random(1); while (!Done) { var b = rent(90000+(int)(work*50%2000000)); if (r.Next(8)==0) keep.Add(b); else giveBack(b, false); if (keep.Count>120) { int i = r.Next(keep.Count); giveBack(keep[i], false); keep.RemoveAt(i); } Garbage(100, 200); work++; } }
  // The same, and every 1,000 arrays a GC that compacts the LOH.
  static void M_sizes_compact() { var mode = typeof(System.Runtime.GCSettings).GetProperty("LargeObjectHeapCompactionMode"); var keep = new List<byte[]>(); var r = new Random(1); while (!Done) { var b = new byte[90000+(int)(work*50%2000000)]; if (r.Next(8)==0) keep.Add(b); if (keep.Count>120) keep.RemoveAt(r.Next(keep.Count)); sink = b; Garbage(100, 200); work++; if (work%1000==0) { mode.SetValue(null, Enum.ToObject(mode.PropertyType, 2)); GC.Collect(); } } }
  // 120 of these arrays stay after a peak of 2,000: as they are, or compacted once.
  static void Peak(bool compact) { var keep = new List<byte[]>(); var r = new Random(1); for (int i=0;i<2000;i++) keep.Add(new byte[90000+r.Next(300000)]); for (int i=keep.Count-1;i>=0;i--) if (i%16!=0) keep[i] = null; GC.Collect(); if (compact) { var mode = typeof(System.Runtime.GCSettings).GetProperty("LargeObjectHeapCompactionMode"); mode.SetValue(null, Enum.ToObject(mode.PropertyType, 2)); GC.Collect(); } while (!Done) { Garbage(100, 200); work++; } GC.KeepAlive(keep); }
  static void M_peak_bad() { Peak(false); }
  static void M_peak_compact() { Peak(true); }
  // Finalizable objects: left to their finalizers, or disposed.
  class Resource { public byte[] b = new byte[400]; ~Resource() { b[0] = 1; } public void Dispose() { b[0] = 1; GC.SuppressFinalize(this); } }
  static void M_finalize_bad() { while (!Done) { for (int i=0;i<1000;i++) sink = new Resource(); work++; } }
  static void M_finalize_good() { while (!Done) { for (int i=0;i<1000;i++) { var r = new Resource(); r.Dispose(); sink = r; } work++; } }
  // GC handles: leaked, or freed.
  static void M_handles_bad() { while (!Done) { for (int i=0;i<100;i++) GCHandle.Alloc(new byte[100]); Garbage(500, 400); work++; if (work>20000) Thread.Sleep(1); } }
  static void M_handles_good() { while (!Done) { for (int i=0;i<100;i++) GCHandle.Alloc(new byte[100]).Free(); Garbage(500, 400); work++; } }
  // 100 MB live; GC.Collect ten times a second, or never.
  static byte[][] Live(int n, int size) { var x = new byte[n][]; for (int i=0;i<n;i++) x[i] = new byte[size]; return x; }
  static void M_collect_bad() { var live = Live(100000, 1000); double next = 0; while (!Done) { Garbage(2000, 300); work++; if (clock.Elapsed.TotalSeconds>=next) { GC.Collect(); next = clock.Elapsed.TotalSeconds+0.1; } } GC.KeepAlive(live); }
  static void M_collect_good() { var live = Live(100000, 1000); while (!Done) { Garbage(2000, 300); work++; } GC.KeepAlive(live); }
  // Memory pressure: never removed, removed when native memory is freed, or none.
  static void M_pressure_bad() { var live = Live(20000, 1000); while (!Done) { GC.AddMemoryPressure(300000); Garbage(300, 700); work++; } GC.KeepAlive(live); }
  static void M_pressure_removed() { var live = Live(20000, 1000); while (!Done) { GC.AddMemoryPressure(300000); Garbage(300, 700); GC.RemoveMemoryPressure(300000); work++; } GC.KeepAlive(live); }
  static void M_pressure_good() { var live = Live(20000, 1000); while (!Done) { Garbage(300, 700); work++; } GC.KeepAlive(live); }
  // A table of 300,000 keys: ConditionalWeakTable, or a Dictionary.
  static void M_table_bad() { var t = new ConditionalWeakTable<object,object>(); var keys = new List<object>(); for (int i=0;i<300000;i++) { var k = new object(); t.Add(k, new byte[16]); keys.Add(k); } while (!Done) { Garbage(1000, 400); work++; } GC.KeepAlive(keys); GC.KeepAlive(t); }
  static void M_table_good() { var t = new Dictionary<object,object>(); var keys = new List<object>(); for (int i=0;i<300000;i++) { var k = new object(); t.Add(k, new byte[16]); keys.Add(k); } while (!Done) { Garbage(1000, 400); work++; } GC.KeepAlive(keys); GC.KeepAlive(t); }
  // 400,000 weak references to dead objects: all kept, or dropped.
  static void M_weak_bad() { var l = new List<WeakReference>(); for (int i=0;i<400000;i++) l.Add(new WeakReference(new object())); while (!Done) { Garbage(1000, 400); work++; } GC.KeepAlive(l); }
  static void M_weak_good() { var l = new List<object>(); for (int i=0;i<400000;i++) l.Add(null); while (!Done) { Garbage(1000, 400); work++; } GC.KeepAlive(l); }
  // Old objects: an array of 5,000,000 references written to at random, or indexes into young data.
  static void M_old_bad() { var old = new object[5000000]; var r = new Random(1); while (!Done) { for (int i=0;i<1000;i++) old[r.Next(old.Length)] = new byte[24]; Garbage(2000, 200); work++; } GC.KeepAlive(old); }
  static void M_old_good() { var old = new long[5000000]; var r = new Random(1); while (!Done) { for (int i=0;i<1000;i++) { old[r.Next(old.Length)] = i; sink = new byte[24]; } Garbage(2000, 200); work++; } GC.KeepAlive(old); }
  // Survivors: batches of 40 MB held until the next, or of 0.4 MB.
  static void M_batch_bad() { while (!Done) { var batch = new List<byte[]>(); for (int i=0;i<400000;i++) { batch.Add(new byte[80]); if (i%400==399) work++; } sink = batch; } }
  static void M_batch_good() { while (!Done) { for (int k=0;k<100;k++) { var batch = new List<byte[]>(); for (int i=0;i<4000;i++) { batch.Add(new byte[80]); if (i%400==399) work++; } sink = batch; } } }
  // A loop of a cache of 100 MB of live objects, or 10 MB.
  static void M_live_bad() { var live = Live(100000, 1000); var r = new Random(1); while (!Done) { for (int i=0;i<100;i++) live[r.Next(live.Length)] = new byte[1000]; Garbage(100, 300); work++; } GC.KeepAlive(live); }
  static void M_live_good() { var live = Live(10000, 1000); var r = new Random(1); while (!Done) { for (int i=0;i<100;i++) live[r.Next(live.Length)] = new byte[1000]; Garbage(100, 300); work++; } GC.KeepAlive(live); }
  // Little survives: 400 bytes for each step, or a buffer that is used again.
  static void M_allocate_bad() { while (!Done) { for (int i=0;i<1000;i++) { var b = new byte[400]; b[i%400] = 1; sink = b; } work++; } }
  static void M_allocate_good() { var b = new byte[400]; while (!Done) { for (int i=0;i<1000;i++) { Array.Clear(b, 0, 400); b[i%400] = 1; sink = b; } work++; } }
  // One linked list of 3,000,000 nodes, or an array of structs.
  class Node { public Node next; public long a, b, c; } struct Flat { public int next; public long a, b, c; }
  static void M_chain_bad() { Node head = null; for (int i=0;i<3000000;i++) head = new Node{next=head}; while (!Done) { var n = head; for (int i=0;i<20000;i++) { sink = new byte[600]; n.a++; n = n.next; } work++; if (work%50==0) { Node h = null; for (int i=0;i<300000;i++) h = new Node{next=h}; sink = h; } } GC.KeepAlive(head); }
  static void M_chain_good() { var all = new Flat[3000000]; while (!Done) { for (int i=0;i<20000;i++) { sink = new byte[600]; all[i].a++; } work++; if (work%50==0) { sink = new Flat[300000]; } } GC.KeepAlive(all); }
  // A job that takes 1.2 s of pauses: at once after half of the time, or a twentieth of it at a time all the time.
  static void Job(double ms) { double until = paused().TotalMilliseconds+ms; while (paused().TotalMilliseconds<until) { var batch = new byte[100][][]; for (int k=0;k<100;k++) { batch[k] = new byte[400][]; for (int i=0;i<400;i++) batch[k][i] = new byte[80]; } sink = batch; work++; } }
  static void M_job_bad() { bool ran = false; while (!Done) { if (!ran && clock.Elapsed.TotalSeconds>=limit/2) { Job(1200); ran = true; } Garbage(100, 300); Thread.Sleep(20); } }
  static void M_job_good() { double next = 0; while (!Done) { if (clock.Elapsed.TotalSeconds>=next) { Job(60); next += limit/20; } Garbage(100, 300); Thread.Sleep(20); } }
  // Results of 2 kB, 10,000 a second: all kept, or the last 5,000.
  static void Results(int kept) { var q = new Queue<byte[]>(); while (!Done) { while (work<clock.Elapsed.TotalSeconds*10000) { q.Enqueue(new byte[2000]); if (q.Count>kept) q.Dequeue(); Garbage(20, 400); work++; } Thread.Sleep(1); } GC.KeepAlive(q); }
  static void M_results_bad() { Results(int.MaxValue); }
  static void M_results_good() { Results(5000); }
  // Finalizers, of which the first waits until the program has ended its work, or none does.
  class Closed { byte[] b = new byte[400]; public static bool wait; ~Closed() { if (wait) { wait = false; while (!Done) Thread.Sleep(50); } } }
  static void Close() { while (!Done) { sink = new Closed(); Garbage(20, 400); work++; if (work%1000==0) Thread.Sleep(1); } }
  static void M_closed_bad() { Closed.wait = true; Close(); }
  static void M_closed_good() { Close(); }
  // 20 MB in a no-GC region of 100 MB, or without one.
  static void M_region_bad() { while (!Done) { bool began = GC.TryStartNoGCRegion(100<<20); Garbage(20000, 1000); if (began) GC.EndNoGCRegion(); work++; } }
  static void M_region_good() { while (!Done) { Garbage(20000, 1000); work++; } }
  // Large arrays that 16 threads need while 100 MB of other objects are collected: new ones, or rented and returned.
  static void Need(Func<int,byte[]> take, Action<byte[]> end) { var live = Live(400000, 200); var threads = new Thread[16]; for (int k=0;k<threads.Length;k++) { int seed = k; threads[k] = new Thread(() => { var r = new Random(seed); while (!Done) { var b = take(100000+r.Next(60000)); b[0] = 1; sink = b; end(b); live[r.Next(live.Length)] = new byte[200]; Garbage(20, 250); Interlocked.Increment(ref work); } }); threads[k].Start(); } foreach (var t in threads) t.Join(); GC.KeepAlive(live); }
  static void M_need_bad() { Need(n => new byte[n], b => { }); }
  static void M_need_good() { Need(n => rent(n), b => giveBack(b, false)); }
  // Reports of 12 to 20 MB, five a second: new arrays, or rented and returned.
  static void Report(Func<int,byte[]> take, Action<byte[]> end) { var r = new Random(1); while (!Done) { while (work<clock.Elapsed.TotalSeconds*5) { var b = take(12000000+r.Next(8000000)); b[0] = 1; sink = b; end(b); Garbage(20, 250); work++; } Thread.Sleep(5); } }
  static void M_report_bad() { Report(n => new byte[n], b => { }); }
  static void M_report_good() { Report(n => rent(n), b => giveBack(b, false)); }
  // A watchdog that frees memory twice a second while time in GC is high: the share since the previous GC, as the counter time-in-gc has it, or the share of the last half second.
  static void Watch(Func<bool> high) { var live = Live(20000, 1000); Free(); double next = 0.5; while (!Done) { Garbage(100, 300); Thread.Sleep(1); if (clock.Elapsed.TotalSeconds>=next) { if (high()) { Free(); work++; } next += 0.5; } } GC.KeepAlive(live); }
  static void Free() { GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect(); }
  static void M_watch_bad() { var counter = typeof(GC).GetMethod("GetLastGCPercentTimeInGC", BindingFlags.Static|BindingFlags.NonPublic); Watch(() => Convert.ToInt32(counter.Invoke(null, null))>=50); }
  static void M_watch_good() { var last = paused(); Watch(() => { var now = paused(); bool high = (now-last).TotalSeconds>=0.05*0.5; last = now; return high; }); }
  // 145 MB, of which 29 MB a second are replaced from the second second on.
  static void M_replace() { var live = Live(145000, 1000); GC.Collect(); while (!Done) { while (work<(clock.Elapsed.TotalSeconds-2)*29000) { live[work%live.Length] = new byte[1000]; Garbage(1, 1000); work++; } Thread.Sleep(1); } GC.KeepAlive(live); }
  // 60 of 1,000 large arrays stay after a peak, and 50 MB of other objects are replaced: with free space between the arrays, or compacted once.
  static void Stay(bool compact) { var keep = new List<byte[]>(); var r = new Random(1); for (int i=0;i<1000;i++) keep.Add(new byte[90000+r.Next(150000)]); for (int i=0;i<keep.Count;i++) if (i%16!=0) keep[i] = null; if (compact) { var mode = typeof(System.Runtime.GCSettings).GetProperty("LargeObjectHeapCompactionMode"); mode.SetValue(null, Enum.ToObject(mode.PropertyType, 2)); } GC.Collect(); var live = Live(50000, 1000); while (!Done) { while (work<clock.Elapsed.TotalSeconds*60000) { live[work%live.Length] = new byte[1000]; work++; } Thread.Sleep(1); } GC.KeepAlive(live); GC.KeepAlive(keep); }
  static void M_stay_bad() { Stay(false); }
  static void M_stay_good() { Stay(true); }
  // 2 MB that survive, every 8 ms.
  static void M_steady() { while (!Done) { var batch = new byte[10][][]; for (int k=0;k<10;k++) { batch[k] = new byte[2000][]; for (int i=0;i<2000;i++) batch[k][i] = new byte[80]; } sink = batch; work++; Thread.Sleep(8); } }
  // One object that leads to a million, each of which refers to eight of them, or a million structs; and large arrays, which make gen 2 GCs run.
  class Knot { public Knot a, b, c, d, e, f, g, h; } struct Tie { public int a, b, c, d, e, f, g, h; }
  static void Large() { while (!Done) { sink = new byte[2000000]; Garbage(3000, 300); work++; } }
  [MethodImpl(MethodImplOptions.NoInlining)] static Knot Knots(int many) { var all = new Knot[many]; var r = new Random(1); for (int i=0;i<many;i++) { int n = i+1; var k = new Knot(); all[i] = k; k.a = all[r.Next(n)]; k.b = all[r.Next(n)]; k.c = all[r.Next(n)]; k.d = all[r.Next(n)]; k.e = all[r.Next(n)]; k.f = all[r.Next(n)]; k.g = all[r.Next(n)]; if (i>0) all[i-1].h = k; } return all[0]; }
  static void M_knots_bad() { var first = Knots(1000000); Large(); GC.KeepAlive(first); }
  static void M_knots_good() { var all = new Tie[1000000]; Large(); GC.KeepAlive(all); }
}
