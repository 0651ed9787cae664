// trouble MODE SECONDS spends its time on one thing that is not the GC: locks, pool, jit, exceptions or types.
// With "-mended" after a mode, it does the same work without that.
//
//   mcs -debug- -optimize+ -r:System.Core -out:trouble.dll trouble.cs
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading;
using System.Threading.Tasks;

public static class Trouble {
  static readonly object gate = new object();
  static readonly Stopwatch clock = Stopwatch.StartNew();
  static double limit;
  public static object sink;

  static bool Done { get { return clock.Elapsed.TotalSeconds >= limit; } }

  // Churn allocates, so that there are collections.
  static void Churn() { for (int i = 0; i < 3000; i++) sink = new byte[1000]; }

  static void Locks() {
    var threads = new Thread[4];
    for (int i = 0; i < threads.Length; i++) {
      threads[i] = new Thread(() => { while (!Done) { lock (gate) { Thread.Sleep(5); Churn(); } Thread.Sleep(1); } });
      threads[i].Start();
    }
    foreach (var t in threads) t.Join();
  }

  // LocksMended does the slow part before it takes the lock, as often as Locks.
  static void LocksMended() {
    long total = 0;
    var threads = new Thread[4];
    for (int i = 0; i < threads.Length; i++) {
      threads[i] = new Thread(() => { while (!Done) { Thread.Sleep(5); Churn(); lock (gate) total++; Thread.Sleep(19); } });
      threads[i].Start();
    }
    foreach (var t in threads) t.Join();
  }

  static void Pool() {
    ThreadPool.SetMinThreads(2, 2);
    for (int i = 0; i < 60; i++) Task.Run(() => { Thread.Sleep(6000); Churn(); });
    while (!Done) { Thread.Sleep(100); Churn(); }
  }

  // PoolMended awaits instead of sleeping, so that no task has a thread meanwhile.
  static void PoolMended() {
    ThreadPool.SetMinThreads(2, 2);
    for (int i = 0; i < 60; i++) Task.Delay(6000).ContinueWith(t => Churn());
    while (!Done) { Thread.Sleep(100); Churn(); }
  }

  static Func<int, int> Compiled(int n) {
    var x = Expression.Parameter(typeof(int));
    Expression e = x;
    for (int k = 0; k < 1000; k++) e = Expression.Add(Expression.Multiply(e, Expression.Constant(k + n)), x);
    return Expression.Lambda<Func<int, int>>(e, x).Compile();
  }

  static void Jit() {
    for (int n = 0; !Done; n++) {
      Compiled(n)(3);
      if (n % 10 == 0) Churn();
    }
  }

  // JitMended compiles the expression once.
  static void JitMended() {
    var f = Compiled(0);
    for (int n = 0; !Done; n++) {
      f(3);
      if (n % 10 == 0) { Churn(); Thread.Sleep(1); }
    }
  }

  static void Exceptions() {
    while (!Done) {
      for (int i = 0; i < 10; i++) { try { throw new InvalidOperationException("x"); } catch (InvalidOperationException) { } }
      Churn();
      Thread.Sleep(20);
    }
  }

  // ExceptionsMended asks whether it would fail.
  static void ExceptionsMended() {
    int n = 0;
    while (!Done) {
      for (int i = 0; i < 10; i++) if (!int.TryParse("x", out n)) sink = null;
      Churn();
      Thread.Sleep(20);
    }
  }

  static readonly Lazy<ModuleBuilder> made = new Lazy<ModuleBuilder>(() => AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Made"), AssemblyBuilderAccess.Run).DefineDynamicModule("Made"));

  static Type Defined(int n) {
    var type = made.Value.DefineType("T" + n, TypeAttributes.Public);
    for (int k = 0; k < 3000; k++) type.DefineField("f" + k, typeof(int), FieldAttributes.Public | FieldAttributes.Static);
    return type.CreateType();
  }

  static void Types() {
    for (int n = 0; !Done; n++) sink = Activator.CreateInstance(Defined(n));
  }

  // TypesMended defines the type once.
  static void TypesMended() {
    var type = Defined(0);
    for (int n = 0; !Done; n++) { sink = Activator.CreateInstance(type); if (n % 1000 == 0) { Churn(); Thread.Sleep(1); } }
  }

  public static int Main(string[] args) {
    limit = double.Parse(args[1], System.Globalization.CultureInfo.InvariantCulture);
    switch (args[0]) {
      case "locks": Locks(); break;
      case "pool": Pool(); break;
      case "jit": Jit(); break;
      case "exceptions": Exceptions(); break;
      case "types": Types(); break;
      case "locks-mended": LocksMended(); break;
      case "pool-mended": PoolMended(); break;
      case "jit-mended": JitMended(); break;
      case "exceptions-mended": ExceptionsMended(); break;
      case "types-mended": TypesMended(); break;
      default: return 2;
    }
    return 0;
  }
}
