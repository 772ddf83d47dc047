import type { KeyObject } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import type { Check } from './checks.ts';

/** A part of the pasted text: a parameter, a claim, a field. */
export interface Part {
  readonly name: string;
  readonly value: string;
  /** Its meaning. */
  readonly note?: string;
  readonly section?: string;
}

/** A token, proof, challenge or field, divided into parts. */
export interface Explained {
  readonly what: string;
  readonly standard: string;
  readonly parts: readonly Part[];
  /** The checks, in the order in which the server makes them (for a challenge: in which the client makes them). */
  readonly checks: readonly Check[];
}

/**
 * Returns the key of an issuer. `absent`: the issuer has no such key. Undefined: the keys of this issuer are not at
 * hand, so the signature stays open.
 */
export type KeyOf = (
  issuer: unknown,
  kid: string,
  algorithm: JwsAlgorithm,
) => KeyObject | 'absent' | undefined;

/** Facts besides the text itself. */
export interface Surroundings {
  readonly clock: Clock;
  readonly keyOf?: KeyOf | undefined;
  /** The request that contained the text. */
  readonly request?: {
    readonly method: string;
    readonly target: string;
    /** Undefined if the request does not show it. */
    readonly targetUri: string | undefined;
    readonly accessToken: string | undefined;
  };
}

/** The most bytes of a text that is explained. */
export const LONGEST_TEXT = 16_384;

/** The most characters of all parts together, since components of signatures may repeat a long value many times. */
const MOST_CHARACTERS = 65_536;
/** The most parts of one item. */
const MOST_PARTS = 64;

/** Removes parts over the limits, and adds a part that says so. */
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
