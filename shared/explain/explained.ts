import type { Clock } from '#shared/base/clock.ts';
import type { Check } from './checks.ts';

/** A part of what was pasted: a parameter, a claim, a field. */
export interface Part {
  readonly name: string;
  readonly value: string;
  /** Its meaning. */
  readonly note?: string;
  readonly section?: string;
}

/** One token, proof, challenge or field in its parts. */
export interface Explained {
  readonly what: string;
  readonly standard: string;
  readonly parts: readonly Part[];
  /** In the order of the server, or for a challenge of the client. */
  readonly checks: readonly Check[];
}

/** Facts beside the text itself. */
export interface Surroundings {
  readonly clock: Clock;
  /** The request in which it was pasted. */
  readonly request?: {
    readonly method: string;
    readonly target: string;
    /** Undefined: the request does not say it. */
    readonly targetUri: string | undefined;
    readonly accessToken: string | undefined;
  };
}

/** Bytes of the longest text that is explained. */
export const LONGEST_TEXT = 16_384;

/** Characters of all parts together: components of signatures may have the same long value many times. */
const MOST_CHARACTERS = 65_536;
/** Parts of one thing. */
const MOST_PARTS = 64;

/** Cuts off what is beyond the bounds, and says so. */
export function bounded(all: readonly Explained[]): readonly Explained[] {
  let left = MOST_CHARACTERS;
  return all.map((explained) => {
    const parts: Part[] = [];
    for (const part of explained.parts) {
      left -= part.name.length + part.value.length;
      if (left < 0 || parts.length === MOST_PARTS) break;
      parts.push(part);
    }
    const more = explained.parts.length - parts.length;
    return more === 0
      ? explained
      : { ...explained, parts: [...parts, { name: '…', value: `${more} more` }] };
  });
}
