import * as z from 'zod';

const callFrame = z.object({ functionName: z.string(), url: z.string(), lineNumber: z.int() });

/** A CPU profile as V8 writes it; times are in microseconds, lines begin at 0. */
export const cpuProfile = z.object({
  nodes: z.array(
    z.object({
      id: z.int(),
      callFrame,
      children: z.array(z.int()).default([]),
    }),
  ),
  /** Which node was at work, and how long before it the one before it was looked at. */
  samples: z.array(z.int()),
  timeDeltas: z.array(z.number()),
});

export type CpuProfile = z.infer<typeof cpuProfile>;

/** A function that took memory, of which so many octets were sampled, and those that it called. */
const taking = z.object({
  callFrame,
  selfSize: z.number(),
  get children() {
    return z.array(taking);
  },
});

/** A profile of the heap as V8 writes it. */
export const heapProfile = z.object({ head: taking });

export type HeapProfile = z.infer<typeof heapProfile>;

/** A function as it was called from the one above it; times in microseconds. */
export interface Frame {
  readonly name: string;
  /** While it was itself at work. */
  self: number;
  /** With all that it called. */
  total: number;
  /** By name. */
  readonly called: Map<string, Frame>;
}

const IDLE = '(idle)';

const frame = (name: string): Frame => ({ name, self: 0, total: 0, called: new Map() });

/** The time in which the process was at work, by what called what; calls of the same function are one. */
export function fold({ nodes, samples, timeDeltas }: CpuProfile): Frame {
  const selfOf = new Map<number, number>();
  for (const [at, id] of samples.entries()) {
    selfOf.set(id, (selfOf.get(id) ?? 0) + Math.max(0, timeDeltas[at] ?? 0));
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));

  /** Adds what a node and all below it took. */
  function add(into: Frame, id: number): number {
    const node = byId.get(id);
    if (node === undefined) return 0;
    const self = selfOf.get(id) ?? 0;
    const below = node.children.map((child) => {
      const name = nameOf(byId.get(child)?.callFrame);
      if (name === IDLE) return 0;
      const called = into.called.get(name) ?? frame(name);
      into.called.set(name, called);
      return add(called, child);
    });
    const total = below.reduce((sum, one) => sum + one, self);
    into.self += self;
    into.total += total;
    return total;
  }

  const [root] = nodes;
  const all = frame('(all)');
  if (root !== undefined) add(all, root.id);
  return all;
}

/** Self time of each function, wherever it was called from; the most first. */
export function selfTimes(all: Frame): readonly (readonly [name: string, self: number])[] {
  const times = new Map<string, number>();
  const add = ({ name, self, called }: Frame): void => {
    times.set(name, (times.get(name) ?? 0) + self);
    for (const one of called.values()) add(one);
  };
  add(all);
  return [...times].toSorted(([, one], [, other]) => other - one);
}

/** Octets that each function took, wherever it was called from; the most first. */
export function octetsTaken({
  head,
}: HeapProfile): readonly (readonly [name: string, octets: number])[] {
  const taken = new Map<string, number>();
  const add = ({ callFrame: at, selfSize, children }: HeapProfile['head']): void => {
    if (selfSize > 0) taken.set(nameOf(at), (taken.get(nameOf(at)) ?? 0) + selfSize);
    for (const one of children) add(one);
  };
  add(head);
  return [...taken].toSorted(([, one], [, other]) => other - one);
}

const HERE = new URL('../../../', import.meta.url).href;

function nameOf(at?: z.infer<typeof callFrame>): string {
  const { functionName = '', url = '', lineNumber = 0 } = at ?? {};
  if (url === '') return functionName || '(unknown)';
  const file = url.replace(HERE, '').replace(/^.*\/node_modules\//, 'node_modules/');
  return `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`;
}
