// Nothing: a precompiled header needs a source file that it belongs to.
