// app [SECONDS | serve] stands in for the programs that documents run: it serves requests, with
// a span for each, for some time, a second at most, or until it is ended, and prints how many.
//
// mono-mcs has no ActivitySource: ../../dotnettest/shop/activity.cs takes its place when the
// program is built.
//
//   mcs -target:library -out:System.Diagnostics.DiagnosticSource.dll ../../dotnettest/shop/activity.cs
//   mcs -debug- -optimize+ -r:System.Diagnostics.DiagnosticSource.dll -out:app.dll app.cs
using System;
using System.Diagnostics;
using System.Threading;

static class Program {
  static byte[][] live = new byte[2000][];

  static void Main(string[] args) {
    double seconds = 0.3;
    if (args.Length > 0 && !double.TryParse(args[0], out seconds)) seconds = args[0] == "serve" ? 1e6 : 0.3;
    if (seconds < 1e6) seconds = Math.Min(seconds, 1);
    var orders = new ActivitySource("Shop.Orders", "1.0");
    var random = new Random(1);
    var clock = Stopwatch.StartNew();
    long done = 0;
    Console.WriteLine("Now listening on: http://localhost:5000");
    do {
      using (orders.StartActivity("GET /orders", ActivityKind.Server))
        for (int i = 0; i < 100; i++) live[random.Next(live.Length)] = new byte[random.Next(16, 2000)];
      done++;
      Thread.Sleep(2);
    } while (clock.Elapsed.TotalSeconds < seconds);
    Console.WriteLine("done: " + done + "\nwork: " + done + "\nrequests: " + done);
  }
}
