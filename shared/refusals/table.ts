import type { Row } from './refusal.ts';
import { SCHEMES } from './schemes.ts';
import { SIGNATURES } from './signatures.ts';
import { SPACES } from './spaces.ts';
import { TOKENS } from './tokens.ts';

const TABLE = { ...SPACES, ...TOKENS, ...SIGNATURES, ...SCHEMES };

/** A code that names a reason for which a server refuses credentials. */
export type RefusalCode = keyof typeof TABLE;

/** All refusals by their codes. */
export const REFUSALS: Readonly<Record<string, Row>> = TABLE;

/** Returns the label that counts a refusal; `other` for an unknown code. */
export const labelOf = (code: string): Row['label'] =>
  (Object.hasOwn(REFUSALS, code) && REFUSALS[code]?.label) || 'other';
