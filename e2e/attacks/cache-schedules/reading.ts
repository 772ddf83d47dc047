/** Makes the requests of a reader, and checks whether an answer is allowed. */
import type { Dice } from '../dice.ts';
import { pick } from '../dice.ts';
import type { Asked, Reply } from './gateways.ts';
import { contentOf, etagOf, lengthOf, pathOf, type Version, versionOf } from './library.ts';

const LANGUAGES = ['', '', 'de'] as const;
const QUERIES = ['first', 'second'] as const;
const KINDS = ['GET', 'GET', 'GET', 'HEAD', 'QUERY', 'range', 'if', 'no-cache'] as const;
const STATUSES = new Map([
  ['range', [200, 206]],
  ['if', [200, 304]],
]);

export interface Reading extends Asked {
  readonly target: number;
  readonly variant: string;
  /** The answer must not show a version older than `floor`. */
  readonly floor: number;
  readonly statuses: readonly number[];
}

/** `known`: versions that the reader has seen and may send in If-None-Match. */
export function reading(roll: Dice, target: number, floor: number, known: Version[]): Reading {
  const kind = pick(roll, KINDS);
  const common = { path: pathOf(target), target, floor, statuses: STATUSES.get(kind) ?? [200] };
  if (kind === 'QUERY') {
    const variant = pick(roll, QUERIES);
    const fields = { 'Content-Type': 'text/plain' };
    return { ...common, method: kind, variant, fields, content: variant };
  }
  const variant = pick(roll, LANGUAGES);
  const last = known.findLast((one) => one.variant === variant);
  const fields = {
    ...(variant && { 'Accept-Language': variant }),
    ...(kind === 'range' && { Range: rangeOf(roll, lengthOf(target)) }),
    ...(kind === 'if' && last && { 'If-None-Match': etagOf(last) }),
    ...(kind === 'no-cache' && { 'Cache-Control': kind }),
  };
  return { ...common, method: kind === 'HEAD' ? kind : 'GET', variant, fields };
}

function rangeOf(roll: Dice, length: number): string {
  const first = roll(length);
  return `bytes=${first}-${first + roll(length - first)}`;
}

/** Returns why a complete answer is wrong, if it is; `now`: the newest version when the answer came. */
export function wrong(asked: Reading, reply: Reply, now: number): string | undefined {
  const { target, variant, floor, method, statuses } = asked;
  const { status, fields, content } = reply;
  if (!statuses.includes(status)) return `status ${status}`;
  const told = versionOf(fields['etag']);
  if (told === undefined) return `entity tag ${fields['etag']}`;
  if (told.variant !== variant) return `variant ${told.variant} to who asked for ${variant}`;
  if (told.version < floor) return `version ${told.version}, after ${floor} was acknowledged`;
  if (told.version > now) return `version ${told.version}, which does not exist`;
  if (status === 304) {
    return asked.fields['If-None-Match'] === etagOf(told) ? undefined : '304 of what was not named';
  }
  const whole = contentOf(target, told);
  const [first, end] = status === 206 ? partOf(fields['content-range']) : [0, whole.length];
  const expected = method === 'HEAD' ? Buffer.alloc(0) : whole.subarray(first, end);
  if (content.equals(expected)) return undefined;
  return `${content.length} octets, not the ${expected.length} of version ${told.version}: ${content.subarray(0, 40).toString('latin1')}`;
}

/** Reads Content-Range (RFC 9110 section 14.4); undefined if the field is not valid. */
function partOf(range: string | undefined): readonly [number, number] {
  const [, first, last] = /^bytes (\d+)-(\d+)\/\d+$/.exec(range ?? '') ?? [];
  return last === undefined ? [0, 0] : [Number(first), Number(last) + 1];
}
