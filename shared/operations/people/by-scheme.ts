import { VERIFIER_KINDS } from '#shared/auth/schemes/list.ts';
import type { KeptKind } from '#shared/people/verifier-kind.ts';

const wordsOf = ({ kind }: KeptKind) => kind.split(' ');

const SCHEMES = [...new Set(VERIFIER_KINDS.map((kind) => wordsOf(kind)[0] ?? ''))].toSorted();

/** In the order of `variantsByScheme`. */
export const inOrder = (kinds: readonly KeptKind[]): KeptKind[] =>
  SCHEMES.flatMap((scheme) => kinds.filter((kind) => wordsOf(kind)[0] === scheme));

/** For each scheme that keeps anything, of which of its variants: `{ digest: ['SHA-256'], scram: [] }`. */
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
