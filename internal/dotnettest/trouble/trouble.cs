// trouble MODE SECONDS spends its time on one thing that is not the GC: locks, pool, jit, exceptions or types.
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

  static void Pool() {
    ThreadPool.SetMinThreads(2, 2);
    for (int i = 0; i < 60; i++) Task.Run(() => { Thread.Sleep(6000); Churn(); });
    while (!Done) { Thread.Sleep(100); Churn(); }
  }

  static void Jit() {
    for (int n = 0; !Done; n++) {
      var x = Expression.Parameter(typeof(int));
      Expression e = x;
      for (int k = 0; k < 1000; k++) e = Expression.Add(Expression.Multiply(e, Expression.Constant(k + n)), x);
      Expression.Lambda<Func<int, int>>(e, x).Compile()(3);
      if (n % 10 == 0) Churn();
    }
  }

  static void Exceptions() {
    while (!Done) {
      for (int i = 0; i < 10; i++) { try { throw new InvalidOperationException("x"); } catch (InvalidOperationException) { } }
      Churn();
      Thread.Sleep(20);
    }
  }

  static void Types() {
    var module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Made"), AssemblyBuilderAccess.Run).DefineDynamicModule("Made");
    for (int n = 0; !Done; n++) {
      var type = module.DefineType("T" + n, TypeAttributes.Public);
      for (int k = 0; k < 3000; k++) type.DefineField("f" + k, typeof(int), FieldAttributes.Public | FieldAttributes.Static);
      sink = Activator.CreateInstance(type.CreateType());
    }
  }

  public static int Main(string[] args) {
    limit = double.Parse(args[1], System.Globalization.CultureInfo.InvariantCulture);
    switch (args[0]) {
      case "locks": Locks(); break;
      case "pool": Pool(); break;
      case "jit": Jit(); break;
      case "exceptions": Exceptions(); break;
      case "types": Types(); break;
      default: return 2;
    }
    return 0;
  }
}
