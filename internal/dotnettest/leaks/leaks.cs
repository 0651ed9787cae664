// leaks grows its heap by one step for each line on standard input:
//
//   leaks MODE [OBJECTS]   OBJECTS is how many a step adds, 2000 if not given
//   modes that leak:                   static event timer table async handle
//   modes that fill a cache and stop:  lru once churn
//   the mode event, mended:            unsubscribed
//
// It prints a line when a step is done, and ends with the input.
//
// To build it with mono-mcs: mcs -debug- -optimize+ -out:leaks.dll leaks.cs
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Shop {
  public class Session { public byte[] Data = new byte[2000]; }
  public class Feed { public event EventHandler Changed; public void Raise() { if (Changed != null) Changed(this, EventArgs.Empty); } }
  public class View { public byte[] Data = new byte[2000]; public void Draw(object sender, EventArgs e) { } }
  public class Poller { public byte[] Data = new byte[2000]; public Timer Timer; public void Poll(object state) { } }
  public class Order { public int Id; }
  public class Audit { public byte[] Data = new byte[2000]; }
  public class Request { public byte[] Data = new byte[2000]; }
  public class Buffer { public byte[] Data = new byte[2000]; }
  public class Price { public byte[] Data; }
}

public static class Program {
  static int step = 2000, full;

  static Dictionary<string, Shop.Session> sessions = new Dictionary<string, Shop.Session>();
  static Shop.Feed feed = new Shop.Feed();
  static List<Shop.Order> orders = new List<Shop.Order>();
  static ConditionalWeakTable<Shop.Order, Shop.Audit> audits = new ConditionalWeakTable<Shop.Order, Shop.Audit>();
  static CancellationTokenSource shutdown = new CancellationTokenSource();
  static AsyncLocal<Shop.Request> request = new AsyncLocal<Shop.Request>();
  static Dictionary<int, Shop.Price> prices = new Dictionary<int, Shop.Price>();
  static string[] names;
  static Random random = new Random(1);
  static int n;

  public static int Main(string[] args) {
    if (args.Length > 1) step = int.Parse(args[1]);
    full = step * 21 / 10; // of a cache, in the third step
    names = new string[full];
    Action add = args.Length > 0 ? Adder(args[0]) : null;
    if (add == null) { Console.Error.WriteLine("leaks MODE: static event timer table async handle lru once churn unsubscribed"); return 2; }
    TextReader lines = new StreamReader(Console.OpenStandardInput());
    TextWriter done = new StreamWriter(Console.OpenStandardOutput()) { AutoFlush = true };
    done.WriteLine("ready");
    while (lines.ReadLine() != null) {
      for (int i = 0; i < step; i++) { add(); n++; }
      done.WriteLine("done");
    }
    return 0;
  }

  static Action Adder(string mode) {
    switch (mode) {
      case "static": return () => sessions["session " + n] = new Shop.Session();
      case "event": return () => feed.Changed += new Shop.View().Draw;
      case "unsubscribed": return () => { var v = new Shop.View(); feed.Changed += v.Draw; feed.Changed -= v.Draw; };
      case "timer": return () => { var p = new Shop.Poller(); p.Timer = new Timer(p.Poll, null, 3600000, 3600000); };
      case "table": return () => { var o = new Shop.Order { Id = n }; orders.Add(o); audits.Add(o, new Shop.Audit()); };
      case "async": return () => ExecutionContext.Run(ExecutionContext.Capture(), Serve, null);
      case "handle": return () => GCHandle.Alloc(new Shop.Buffer());
      case "lru": return () => { prices.Remove(n - full); prices[n] = new Shop.Price { Data = new byte[random.Next(1000)] }; };
      case "once": return () => { if (n < full) prices[n] = new Shop.Price { Data = new byte[2000] }; };
      case "churn": return () => names[n % full] = new string('x', random.Next(500));
    }
    return null;
  }

  // Serve forgets to dispose of its registration, which captures the execution context.
  static void Serve(object state) {
    request.Value = new Shop.Request();
    shutdown.Token.Register(() => feed.Raise());
  }
}
