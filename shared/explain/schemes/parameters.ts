import type { AuthParams } from '#shared/http/auth/params.ts';
import type { Part } from '../explained.ts';
import { notedPart } from '../noted-part.ts';
import { own } from '../own.ts';
import { SCHEME_NOTES } from '../notes/schemes.ts';

/** A challenge, or credentials. */
interface Read {
  readonly token68?: string;
  readonly params?: AuthParams;
}

/** Returns the parameters of a challenge or of credentials, with the notes of its scheme. */
export function partsOf(scheme: string, { token68, params = {} }: Read): readonly Part[] {
  const notes = own(SCHEME_NOTES, scheme.toLowerCase()) ?? {};
  const values = token68 === undefined ? Object.entries(params) : [['token68', token68] as const];
  return values.map(([name, value]) => notedPart(name, value, notes));
}
