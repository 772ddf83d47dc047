import type { AuthParams } from '#shared/http/auth/params.ts';
import type { Part } from '../explained.ts';
import { notedPart } from '../noted-part.ts';
import { own } from '../own.ts';
import { SCHEME_NOTES } from '../notes/schemes.ts';

/** The value of a challenge, or of credentials. */
interface Read {
  readonly token68?: string;
  readonly params?: AuthParams;
}

/** The name that is shown for a value without a name after the scheme (token68, RFC 9110 section 11.2). */
export const WITHOUT_NAME = 'after the scheme';

/** Returns the parameters of a challenge or of credentials, with the notes of its scheme. */
export function partsOf(scheme: string, { token68, params = {} }: Read): readonly Part[] {
  const notes = own(SCHEME_NOTES, scheme.toLowerCase()) ?? {};
  if (token68 !== undefined)
    return [{ ...notedPart('token68', token68, notes), name: WITHOUT_NAME }];
  return Object.entries(params).map(([name, value]) => notedPart(name, value, notes));
}
