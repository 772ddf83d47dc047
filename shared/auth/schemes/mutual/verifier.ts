import { turnOf } from '#shared/http/turn.ts';
import type { KeptKind, VerifierKind } from '#shared/people/verifier-kind.ts';
import type { SchemeVerifier } from '../parts/scheme-entry.ts';
import {
  MUTUAL_ALGORITHM_NAMES,
  MUTUAL_ALGORITHMS,
  type MutualAlgorithmName,
} from './algorithms.ts';
import type { MutualSettings } from './settings.ts';

/** Parses OCTETS(J). Returns undefined unless the text has the form that `derive` writes. */
export function parseVerifier(algorithm: MutualAlgorithmName, value: string): Buffer | undefined {
  const { octets } = MUTUAL_ALGORITHMS[algorithm];
  const bytes = Buffer.from(value, 'base64url');
  return bytes.length === octets && bytes.toString('base64url') === value ? bytes : undefined;
}

const keptKind = (algorithm: MutualAlgorithmName) =>
  ({
    kind: `mutual ${algorithm}`,
    title: `Mutual ${algorithm}`,
    keeps: `J of ${algorithm}`,
    everywhere: false,
    isValue: (text) => parseVerifier(algorithm, text) !== undefined,
  }) as const satisfies KeptKind;

/**
 * A kind of verifier: J(pi) alone (RFC 8120 section 17.5), for the realm that auth-scope and `realm` identify
 * together (section 5). If the host changes, people need to set a new password.
 */
export function mutualKind(algorithm: MutualAlgorithmName, scope: string): VerifierKind {
  const kept = keptKind(algorithm);
  return {
    ...kept,
    title: `${kept.title} for ${scope}`,
    keeps: `${kept.keeps} for ${scope}`,
    scope,
    async derive({ name, realm, password }) {
      const [{ piOf }, { kam3Threads }] = await Promise.all([
        import('./pi.ts'),
        import('./kam3-threads.ts'),
      ]);
      const pi = await piOf({ algorithm, scope, realm, name }, password);
      return (await kam3Threads.verifier(turnOf(name), algorithm, pi)).toString('base64url');
    },
  };
}

/** Returns the host of a space or a proxy (RFC 8120 section 5), which is the same for both origins of a server. */
export const scopeOf = (url: string) => new URL(url).hostname;

export const mutualVerifier = {
  kinds: MUTUAL_ALGORITHM_NAMES.map(keptKind),
  neededBy: ({
    mutual,
    url,
  }: {
    readonly mutual: Pick<MutualSettings, 'algorithm'>;
    /** The URL of the space or proxy. */
    readonly url: string;
  }) => [mutualKind(mutual.algorithm, scopeOf(url))],
} satisfies SchemeVerifier;
