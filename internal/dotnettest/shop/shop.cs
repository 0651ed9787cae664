// shop serves 240 requests: spans of an ActivitySource of the kind Server. Every eighth one,
// GET /report, allocates much, and has a span of the kind Client in it. "shop mended" reuses
// its objects.
//
// mono-mcs has no ActivitySource. The file activity.cs has its methods as far as they are
// called, and takes its place when the program is built:
//
//   mcs -target:library -out:System.Diagnostics.DiagnosticSource.dll activity.cs
//   mcs -debug- -optimize+ -r:System.Diagnostics.DiagnosticSource.dll -out:shop.dll shop.cs
using System;
using System.Diagnostics;
using System.Threading;

static class Program {
  static byte[][] live = new byte[20000][];

  static void Main(string[] args) {
    bool mended = args.Length > 0 && args[0] == "mended";
    for (int i = 0; mended && i < live.Length; i++) live[i] = new byte[400];
    var orders = new ActivitySource("Shop.Orders", "1.0");
    var random = new Random(1);
    for (int n = 0; n < 240; n++) {
      bool report = n % 8 == 7;
      using (orders.StartActivity(report ? "GET /report" : "GET /orders", ActivityKind.Server)) {
        for (int i = 0; i < (report ? 30000 : 300); i++) {
          if (mended) Array.Clear(live[random.Next(live.Length)], 0, random.Next(16, 400));
          else live[random.Next(live.Length)] = new byte[random.Next(16, 400)];
        }
        if (report) using (orders.StartActivity("db.query", ActivityKind.Client)) Thread.Sleep(1);
      }
    }
  }
}
