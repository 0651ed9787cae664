// unload allocates nearly all its objects in methods whose code is gone soon after:
//
//   unload MODE SECONDS
//   modes: contexts  Plugin.Work, in collectible load contexts that load this file again
//          emitted   Generated.Work, of collectible dynamic assemblies
//          dynamic   Work, a dynamic method
//
// To build it with mono-mcs: mcs -debug- -optimize+ -out:unload.dll unload.cs
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

public static class Plugin {
  // Work allocates for 20 ms. The caller keeps the latest objects, so that none is left out.
  public static void Work(object[] kept) {
    var clock = Stopwatch.StartNew();
    for (int i = 0; clock.ElapsedMilliseconds < 20; i++) kept[i % kept.Length] = new byte[2000];
  }
}

public static class Program {
  static readonly object[] kept = new object[1 << 10];
  static readonly Type contexts = Type.GetType("System.Runtime.Loader.AssemblyLoadContext, System.Private.CoreLib");
  static readonly byte[] file = File.ReadAllBytes(typeof(Program).Assembly.Location);

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Contexts() {
    object context = Activator.CreateInstance(contexts, "plugin", true);
    var load = contexts.GetMethod("LoadFromStream", new[] { typeof(Stream) });
    var assembly = (Assembly)load.Invoke(context, new object[] { new MemoryStream(file) });
    Run(assembly.GetType("Plugin").GetMethod("Work"));
    contexts.GetMethod("Unload").Invoke(context, null);
  }

  // Emit writes a loop that allocates as many objects as fit into a few milliseconds.
  static void Emit(ILGenerator g) {
    var i = g.DeclareLocal(typeof(int));
    var again = g.DefineLabel();
    g.MarkLabel(again);
    g.Emit(OpCodes.Ldarg_0);
    g.Emit(OpCodes.Ldloc, i);
    g.Emit(OpCodes.Ldc_I4, kept.Length - 1);
    g.Emit(OpCodes.And);
    g.Emit(OpCodes.Ldc_I4, 2000);
    g.Emit(OpCodes.Newarr, typeof(byte));
    g.Emit(OpCodes.Stelem_Ref);
    g.Emit(OpCodes.Ldloc, i);
    g.Emit(OpCodes.Ldc_I4_1);
    g.Emit(OpCodes.Add);
    g.Emit(OpCodes.Stloc, i);
    g.Emit(OpCodes.Ldloc, i);
    g.Emit(OpCodes.Ldc_I4, 10000);
    g.Emit(OpCodes.Blt, again);
    g.Emit(OpCodes.Ret);
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Emitted() {
    const AssemblyBuilderAccess runAndCollect = (AssemblyBuilderAccess)9; // which mscorlib of Mono names, too, but not all versions
    var assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Generated"), runAndCollect);
    var type = assembly.DefineDynamicModule("Generated").DefineType("Generated", TypeAttributes.Public | TypeAttributes.Class);
    Emit(type.DefineMethod("Work", MethodAttributes.Public | MethodAttributes.Static, typeof(void), new[] { typeof(object[]) }).GetILGenerator());
    Run(type.CreateType().GetMethod("Work"));
  }

  [MethodImpl(MethodImplOptions.NoInlining)]
  static void Dynamic() {
    var method = new DynamicMethod("Work", typeof(void), new[] { typeof(object[]) }, typeof(Program), true);
    Emit(method.GetILGenerator());
    ((Action<object[]>)method.CreateDelegate(typeof(Action<object[]>)))(kept);
  }

  static void Run(MethodInfo work) { ((Action<object[]>)work.CreateDelegate(typeof(Action<object[]>)))(kept); }

  public static int Main(string[] args) {
    Action once = args[0] == "contexts" ? Contexts : args[0] == "emitted" ? (Action)Emitted : Dynamic;
    for (var clock = Stopwatch.StartNew(); clock.Elapsed.TotalSeconds < double.Parse(args[1]);) {
      once();
      for (int i = 0; i < 2; i++) { GC.Collect(); GC.WaitForPendingFinalizers(); }
    }
    return 0;
  }
}
