import type { Lines } from '../../forwarding/fields.ts';
import type { Stored } from './stored.ts';
import type { Asked, Rules } from './rules.ts';

/** The arrival of the answers of these tests, in milliseconds since the epoch. */
export const NOW = Date.UTC(2026, 10, 22, 12);

/** The time `seconds` after NOW, as an HTTP-date. */
export const date = (seconds: number) => new Date(NOW + seconds * 1000).toUTCString();

export const SHARED: Rules = {
  shared: true,
  heuristic: false,
  targeted: ['cdn-cache-control'],
  made: new Set(),
  origin: 'https://here.example',
};
export const PRIVATE: Rules = { ...SHARED, shared: false };

export const AT_ONCE = { requested: NOW, received: NOW };

/** Splits each `Name: value` into a line. */
export const linesFrom = (...fields: string[]): Lines =>
  fields.map((field) => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon), field.slice(colon + 1).trim()];
  });

/** Returns the lines in the flat form of node:http. */
export const raw = (...fields: string[]) => linesFrom(...fields).flat();

export const asked = (over: Partial<Asked> = {}): Asked => ({
  method: 'GET',
  rawHeaders: [],
  target: '/a',
  guarded: false,
  ...over,
});

export const stored = (fields: readonly string[], over: Partial<Stored> = {}): Stored => ({
  target: '/a',
  whose: '',
  content: '',
  id: '1',
  status: 200,
  lines: linesFrom(...fields),
  vary: [],
  ...AT_ONCE,
  length: 10,
  tags: [],
  outdated: false,
  ...over,
});
