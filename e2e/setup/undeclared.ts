/**
 * Runs in each suite: fails a suite that starts a program without a declaration in it or in its imports.
 */
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, expect } from '@jest/globals';

// An import would bind the functions before they are replaced.
const node = process.getBuiltinModule('node:child_process');
const { execFileSync, spawnSync } = node;
const children: ChildProcess[] = [];
const files: string[] = [];

// Node reports a child before it knows the program.
const note = (message: unknown) => children.push((message as { process: ChildProcess }).process);
const noting = (start: (file: string, ...rest: never[]) => unknown) => {
  return (file: string, ...rest: never[]) => {
    files.push(file);
    return start(file, ...rest);
  };
};

subscribe('child_process', note);
Object.assign(node, { execFileSync: noting(execFileSync), spawnSync: noting(spawnSync) });

afterAll(async () => {
  unsubscribe('child_process', note);
  Object.assign(node, { execFileSync, spawnSync });
  const started = [...files, ...children.map(({ spawnfile }) => spawnfile)];
  if (started.length === 0) return;
  const { declared } = await import('./needs.ts');
  declared(expect.getState().testPath ?? '', started);
});
