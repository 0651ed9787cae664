// shares allocates objects of a few types, of which each has a known part of the bytes:
//
//   shares MODE SECONDS [MB/S]
//   modes: orders text files calls
//
// Without a rate, it allocates as fast as it can. At its end, it prints how many bytes it
// allocated. Which type is allocated next is drawn at random, because a fixed sequence could
// be in step with the runtime's samples.
//
// Its references are to System.Private.CoreLib, so that it can take the place of gcload.dll in
// gcload-net8, -net9 and -net10. To build it with mono-mcs and the assemblies of such a file:
//
//   mcs -nostdlib -noconfig -debug- -optimize+ -r:System.Private.CoreLib.dll -r:System.Console.dll -out:shares.dll shares.cs
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Shop {
  public class Line { public long Article, Price, Count; }
  public class Order { public Line[] Lines; public long Number, Customer; }
  public class Receipt { public long Number; }
  public struct Point { public double X, Y; }
  public class Handler { public int Id; public void Call() { Id++; } }
}

public static class Program {
  static readonly object[] kept = new object[1 << 10]; // so that objects escape
  static readonly string source = new string('x', 4000);
  static int next;
  static uint random = 1;

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Keep(object o) { kept[next++ & 1023] = o; }

  // Draw returns a number from 0 to 99.
  static int Draw() {
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return (int)(random % 100);
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void AddLine() { Keep(new Shop.Line()); }
  [MethodImpl(MethodImplOptions.NoInlining)]
  static void PlaceOrder() { Keep(new Shop.Order { Lines = new Shop.Line[4] }); }
  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Print() { Keep(new Shop.Receipt()); }
  static void Orders() {
    int n = Draw();
    if (n < 70) AddLine();
    else if (n < 90) PlaceOrder();
    else Print();
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Copy() { Keep(source.Substring(0, 100)); }
  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Split() { Keep(new char[50]); }
  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Count() { Keep(new int[10]); }
  static void Text() {
    int n = Draw();
    if (n < 50) Copy();
    else if (n < 80) Split();
    else Count();
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void ReadBlock() { Keep(new byte[8000]); }
  [MethodImpl(MethodImplOptions.NoInlining)]
  static void ReadAll() { Keep(new byte[200000]); } // large
  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Index() { Keep(new long[1000]); }
  static void Files() {
    int n = Draw();
    if (n < 80) ReadBlock();
    else if (n < 98) Index();
    else ReadAll();
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Box(int n) { Keep(n); }
  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Move(int n) { Shop.Point p; p.X = n; p.Y = n; Keep(p); }
  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Subscribe(Shop.Handler h) { Keep(new Action(h.Call)); }
  static readonly Shop.Handler handler = new Shop.Handler();
  static void Calls() {
    int n = Draw();
    if (n < 50) Box(n);
    else if (n < 70) Move(n);
    else Subscribe(handler);
  }

  public static int Main(string[] args) {
    Action step;
    switch (args[0]) {
    case "orders": step = Orders; break;
    case "text": step = Text; break;
    case "files": step = Files; break;
    case "calls": step = Calls; break;
    default: return 2;
    }
    long seconds = Number(args[1]), rate = args.Length > 2 ? Number(args[2]) * 1000000 : 0;
    long start = Stopwatch.GetTimestamp();
    for (;;) {
      double now = (double)(Stopwatch.GetTimestamp() - start) / Stopwatch.Frequency;
      if (now >= seconds) break;
      if (rate > 0 && GC.GetTotalAllocatedBytes(false) >= rate * now) {
        Thread.Sleep(10);
        continue;
      }
      for (int i = 0; i < 100; i++) step();
    }
    Console.WriteLine(GC.GetTotalAllocatedBytes(false).ToString());
    return 0;
  }

  static long Number(string digits) {
    long n = 0;
    for (int i = 0; i < digits.Length; i++) n = 10 * n + digits[i] - '0';
    return n;
  }
}
