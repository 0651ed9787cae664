// The part of System.Diagnostics.DiagnosticSource that shop.cs calls.
using System;

namespace System.Diagnostics {
  public enum ActivityKind { Internal, Server, Client, Producer, Consumer }
  public class Activity : IDisposable { public void Dispose() {} }
  public sealed class ActivitySource {
    public ActivitySource(string name, string version = "") {}
    public Activity StartActivity(string name, ActivityKind kind) { return null; }
  }
}
