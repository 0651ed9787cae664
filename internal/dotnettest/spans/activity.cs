// The part of System.Diagnostics.DiagnosticSource that spans.cs calls.
using System;
using System.Collections.Generic;

namespace System.Diagnostics {
  public enum ActivityKind { Internal, Server, Client, Producer, Consumer }
  public struct ActivityLink {}
  public class Activity : IDisposable {
    public string Id { get { return null; } }
    public void Dispose() {}
  }
  public sealed class ActivitySource {
    public ActivitySource(string name, string version = "") {}
    public Activity StartActivity(string name, ActivityKind kind, string parentId, IEnumerable<KeyValuePair<string, object>> tags = null, IEnumerable<ActivityLink> links = null, DateTimeOffset startTime = default(DateTimeOffset)) { return null; }
  }
}
