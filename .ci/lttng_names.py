#!/usr/bin/env python3
"""Runs the checker on LTTng traces with two names of its references put right.

    lttng_names.py CHECK.PY GCTRAIL FOLDER…

The references for LTTng call four members of a heap history's Values otherwise
than the runtime's manifest and the references for EventPipe and ETW do, and list
the padding of C structs. The trace itself names neither: Values is a blob there.
"""
import sys

NAMES = {'FreeListSpaceBefore': 'FreeListBefore', 'FreeObjSpaceBefore': 'FreeObjBefore',
         'FreeListSpaceAfter': 'FreeListAfter', 'FreeObjSpaceAfter': 'FreeObjAfter'}
THEIRS = "{k: norm(x) for k, x in v.items() if k not in ('_left',)}"
OURS = "{NAMES.get(k, k): norm(x) for k, x in v.items() if k not in ('_left', '_pad')}"

checker = sys.argv[1]
with open(checker, encoding='utf-8') as f:
    source = f.read()
if source.count(THEIRS) != 1:
    sys.exit(f'{checker} is not the checker that this was written for')
sys.argv = sys.argv[1:]
exec(compile(source.replace(THEIRS, OURS), checker, 'exec'), {'NAMES': NAMES, '__name__': '__main__'})
