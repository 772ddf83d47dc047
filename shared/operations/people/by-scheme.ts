import { VERIFIER_KINDS } from '#shared/auth/schemes/list.ts';
import type { KeptKind } from '#shared/people/verifier-kind.ts';

const wordsOf = ({ kind }: KeptKind) => kind.split(' ');

const SCHEMES = [...new Set(VERIFIER_KINDS.map((kind) => wordsOf(kind)[0] ?? ''))].toSorted();

/** Returns the kinds in the order of `variantsByScheme`. */
export const inOrder = (kinds: readonly KeptKind[]): KeptKind[] =>
  SCHEMES.flatMap((scheme) => kinds.filter((kind) => wordsOf(kind)[0] === scheme));

/** Returns for each scheme with verifiers the variants that are stored: `{ digest: ['SHA-256'], scram: [] }`. */
export const variantsByScheme = (kinds: readonly KeptKind[]): Record<string, string[]> =>
  Object.fromEntries(
    SCHEMES.map((scheme) => [
      scheme,
      [
        ...new Set(
          kinds.map(wordsOf).flatMap(([of, variant = '']) => (of === scheme ? [variant] : [])),
        ),
      ],
    ]),
  );
