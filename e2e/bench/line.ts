import type { Measured } from './measure.ts';
import type { Table } from './report.ts';
import { round } from './statistics.ts';
import type { Goal } from './work.ts';

/** A row of the whole table. */
export type Line = Table['rows'][number];

export interface Standing {
  readonly own: Measured;
  /** Absent: it could not be measured. */
  readonly beside: Measured | undefined;
  readonly goal: Goal | undefined;
  /** How many requests at a time. */
  readonly atOnce: number;
  /** Milliseconds, with one at a time. */
  readonly alone: number | undefined;
  /** Answers to that one that were not what they should have been. */
  readonly errors: number;
}

const EMPTY = {
  work: '',
  way: '',
  'cpu us': '',
  'least..most': '',
  ratio: '',
  goal: '',
  beside: '',
  'beside us': '',
  'redis us': '',
  'at once': '',
  'p50 ms': '',
  'p50 of one': '',
  'peak MiB': '',
  errors: 0,
  note: '',
};

export function lineOf(work: string, way: string, standing: Standing): Line {
  const { own, beside, goal, atOnce, alone } = standing;
  return {
    ...EMPTY,
    work,
    way,
    'cpu us': round(own.cpu, 1),
    'least..most': `${own.least.toFixed(1)}..${own.most.toFixed(1)}`,
    ...(beside && {
      ratio: round(own.cpu / beside.cpu, 2),
      ...(goal && { goal: round(goal(beside.cpu) / beside.cpu, 2) }),
      beside: beside.name,
      'beside us': round(beside.cpu, 1),
    }),
    ...(own.redis !== undefined && { 'redis us': round(own.redis, 1) }),
    'at once': atOnce,
    ...(own.latency && { 'p50 ms': round(own.latency.p50, 2) }),
    ...(alone !== undefined && { 'p50 of one': round(alone, 2) }),
    'peak MiB': Math.round(own.memory / 1024 ** 2),
    errors: own.errors + standing.errors,
    ...(!beside && { note: 'what it stands beside failed' }),
  };
}

/** Returns the line of a work that could not be measured. It counts as an error. */
export function failure(work: string, way: string, error: unknown): Line {
  const note = error instanceof Error ? error.message : String(error);
  return { ...EMPTY, work, way, errors: 1, note: note.replaceAll(/\s+/g, ' ').slice(0, 400) };
}
