import { isObject, parseCompactJws } from '#shared/jose/compact-jws.ts';
import type { Person } from '#shared/people/directory.ts';
import { GnapError } from './gnap-error.ts';
import type { UserHint } from './grant-request.ts';
import type { Expected } from './records.ts';
import type { GnapServer } from './server.ts';

/**
 * Returns the person whom a client expects (RFC 9635 section 2.4). The request is only a hint: the person still signs
 * in, and must be the named person. Throws `GnapError` for references, people of other servers and forged assertions.
 */
export async function expectedPerson(
  server: Pick<GnapServer, 'config' | 'publicKey'>,
  user: UserHint | undefined,
): Promise<Expected | undefined> {
  if (user === undefined) return undefined;
  if (typeof user === 'string') throw unknown('user references are not known here');
  const hints = [
    ...(user.sub_ids ?? []).map((subId) => ofSubId(server.config.issuer, subId)),
    ...(await Promise.all((user.assertions ?? []).map((one) => ofAssertion(server, one)))),
  ];
  const accounts = new Set(hints.flatMap(({ accountId }) => accountId ?? []));
  const emails = new Set(hints.flatMap(({ email }) => email ?? []));
  if (accounts.size > 1 || emails.size > 1) throw unknown('the hints are of several people');
  const [accountId] = accounts;
  const [email] = emails;
  return { ...(accountId !== undefined && { accountId }), ...(email !== undefined && { email }) };
}

/** Whether the signed-in person is the one whom the client expects. */
export function isExpected({ id, profile }: Person, expected: Expected | undefined): boolean {
  const { accountId = id, email } = expected ?? {};
  const [first] = profile?.emails ?? [];
  return (
    accountId === id &&
    (email === undefined || (first?.verified === true && first.address === email))
  );
}

/** Returns the person of an identifier in the formats of RFC 9493 section 3.2. */
function ofSubId(issuer: string, subId: Readonly<Record<string, unknown>>): Expected {
  const { format, iss, sub, id, email } = subId;
  if (format === 'opaque' && typeof id === 'string') return { accountId: id };
  if (format === 'iss_sub' && iss === issuer && typeof sub === 'string') return { accountId: sub };
  if (format === 'email' && typeof email === 'string') return { email };
  throw unknown('a sub_id is of no format that is known here, or of another issuer');
}

/** Our own ID token identifies the person even after it has expired. */
async function ofAssertion(
  { config, publicKey }: Pick<GnapServer, 'config' | 'publicKey'>,
  { format, value }: { readonly format: string; readonly value: string },
): Promise<Expected> {
  const jws = format === 'id_token' ? parseCompactJws(value) : undefined;
  if (!jws?.ok) throw unknown('an assertion is no ID token');
  const { header, payload, algorithm, signingInput, signature } = jws;
  const { kid, typ = 'JWT' } = header;
  const key = typeof kid === 'string' ? await publicKey(kid) : undefined;
  const isOurs =
    key !== undefined &&
    typ === 'JWT' &&
    isObject(payload) &&
    payload['iss'] === config.issuer &&
    algorithm.fits(key) &&
    algorithm.verify(signingInput, key, signature);
  if (!isOurs) throw unknown('an assertion is no ID token of this server');
  return { accountId: String(payload['sub']) };
}

const unknown = (description: string) => new GnapError('unknown_user', description);
