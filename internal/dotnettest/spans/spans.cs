// spans makes spans in any .NET program: it is a start-up hook, and takes the place of the
// program's Main.
//
//   DOTNET_STARTUP_HOOKS=/tmp/spans.dll SPANS="MODE SECONDS THREADS FILE" PROGRAM
//
// MODE is
//
//   activity  each thread makes spans of an ActivitySource
//   client    each thread calls an HttpListener of this process with an HttpClient
//   listener  an HttpListener at 127.0.0.1:8199 makes a span of each request, whose parent is
//             the traceparent that the client sent
//
// FILE gets the traceparent of each span of an ActivitySource, and of each request that the
// HttpListener received, one a line. With "rest" as a fifth word, Main runs afterwards, or
// the next start-up hook. What the program is does not matter; it has to be untrimmed.
//
// mono-mcs has no ActivitySource. The file activity.cs has its methods as far as they are
// called, and takes its place when this one is built:
//
//   mcs -target:library -out:System.Diagnostics.DiagnosticSource.dll activity.cs
//   mcs -target:library -optimize+ -r:System.Net.Http.dll -r:System.Diagnostics.DiagnosticSource.dll -out:spans.dll spans.cs
using System;
using System.Diagnostics;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Threading;

static class StartupHook {
  static readonly ActivitySource source = new ActivitySource("Spans", "1.0");
  static readonly byte[][] live = new byte[20000][];
  static StreamWriter ids;
  static long end;

  static void Initialize() {
    string[] words = (Environment.GetEnvironmentVariable("SPANS") ?? "").Split(' ');
    if (words.Length < 4) return;
    double seconds = double.Parse(words[1]);
    int threads = int.Parse(words[2]);
    ids = new StreamWriter(words[3]);
    end = Stopwatch.GetTimestamp() + (long)(seconds * Stopwatch.Frequency);
    if (words[0] == "activity") Run(threads, Activities);
    if (words[0] == "client") { Listen("http://127.0.0.1:8198/", false); Run(threads, Calls); }
    if (words[0] == "listener") { Listen("http://127.0.0.1:8199/", true); Run(1, Wait); }
    lock (ids) ids.Flush();
    if (words.Length == 4) Environment.Exit(0);
  }

  static void Run(int threads, ThreadStart loop) {
    var all = new Thread[threads];
    for (int i = 0; i < threads; i++) (all[i] = new Thread(loop)).Start();
    foreach (var thread in all) thread.Join();
  }

  static bool Over() { return Stopwatch.GetTimestamp() > end; }

  static void Wait() { while (!Over()) Thread.Sleep(10); }

  static void Activities() {
    var random = new Random(1);
    while (!Over()) {
      using (var outer = source.StartActivity("order", ActivityKind.Server, null)) {
        Note(outer);
        using (var inner = source.StartActivity("query", ActivityKind.Client, null)) { Note(inner); Allocate(random, 2000); }
        Allocate(random, 3000);
      }
      Thread.Sleep(1);
    }
  }

  static void Calls() {
    var random = new Random(2);
    using (var client = new HttpClient())
      while (!Over()) {
        client.GetStringAsync("http://127.0.0.1:8198/item").Wait();
        Allocate(random, 3000);
      }
  }

  static void Listen(string prefix, bool spans) {
    var listener = new HttpListener();
    listener.Prefixes.Add(prefix);
    listener.Start();
    for (int i = 0; i < 4; i++) {
      var thread = new Thread(() => Serve(listener, spans));
      thread.IsBackground = true;
      thread.Start();
    }
  }

  static void Serve(HttpListener listener, bool spans) {
    var random = new Random(3);
    var body = new byte[] { 79, 75 };
    while (true) {
      var context = listener.GetContext();
      string parent = context.Request.Headers["traceparent"];
      if (!spans) lock (ids) ids.WriteLine(parent);
      using (var span = spans ? source.StartActivity(context.Request.HttpMethod + " " + context.Request.Url.AbsolutePath, ActivityKind.Server, parent) : null) {
        if (spans) Note(span);
        Allocate(random, 3000);
        context.Response.ContentLength64 = body.Length;
        context.Response.OutputStream.Write(body, 0, body.Length);
        context.Response.Close();
      }
    }
  }

  // Note keeps the id of a span. Without a session, there is none.
  static void Note(Activity span) {
    if (span != null) lock (ids) ids.WriteLine(span.Id);
  }

  static void Allocate(Random random, int objects) {
    for (int i = 0; i < objects; i++) live[random.Next(live.Length)] = new byte[random.Next(16, 400)];
  }
}
