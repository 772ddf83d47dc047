import type { Lines } from '../../forwarding/fields.ts';
import type { Stored } from './stored.ts';
import type { Asked, Rules } from './rules.ts';

/** When the answers of these tests came, in milliseconds since the epoch. */
export const NOW = Date.UTC(2026, 10, 22, 12);

/** `seconds` after that, as an HTTP-date. */
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

/** `Name: value` for each. */
export const linesFrom = (...fields: string[]): Lines =>
  fields.map((field) => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon), field.slice(colon + 1).trim()];
  });

/** The same as node:http has them. */
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
