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
  /** The active node of each sample, and the time since the previous sample. */
  samples: z.array(z.int()),
  timeDeltas: z.array(z.number()),
});

export type CpuProfile = z.infer<typeof cpuProfile>;

/** A function that allocated memory: its sampled octets, and the functions that it called. */
const taking = z.object({
  callFrame,
  selfSize: z.number(),
  get children() {
    return z.array(taking);
  },
});

/** A heap profile as V8 writes it. */
export const heapProfile = z.object({ head: taking });

export type HeapProfile = z.infer<typeof heapProfile>;

/** A function as called from its parent; times in microseconds. */
export interface Frame {
  readonly name: string;
  /** Its self time. */
  self: number;
  /** Its time including called functions. */
  total: number;
  /** Called functions by name. */
  readonly called: Map<string, Frame>;
}

const IDLE = '(idle)';

const frame = (name: string): Frame => ({ name, self: 0, total: 0, called: new Map() });

/** The active time of the process by call stack. Calls of the same function are merged. */
export function fold({ nodes, samples, timeDeltas }: CpuProfile): Frame {
  const selfOf = new Map<number, number>();
  for (const [at, id] of samples.entries()) {
    selfOf.set(id, (selfOf.get(id) ?? 0) + Math.max(0, timeDeltas[at] ?? 0));
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));

  /** Adds the time of a node and its children. */
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

/** The self time of each function over all callers, in descending order. */
export function selfTimes(all: Frame): readonly (readonly [name: string, self: number])[] {
  const times = new Map<string, number>();
  const add = ({ name, self, called }: Frame): void => {
    times.set(name, (times.get(name) ?? 0) + self);
    for (const one of called.values()) add(one);
  };
  add(all);
  return [...times].toSorted(([, one], [, other]) => other - one);
}

/** The octets that each function allocated over all callers, in descending order. */
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
