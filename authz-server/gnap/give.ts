import { epochSeconds } from '#shared/base/clock.ts';
import { gnapSpaces } from '#shared/config/token-spaces.ts';
import type { ScopeItem } from '#shared/people/access/consents.ts';
import { findAccess } from '#shared/people/access/grants.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { grantedOf, resolveAccess } from './access.ts';
import { mayUseNow } from '../base/may-use.ts';
import { clientOf } from './clients.ts';
import { GnapError } from './gnap-error.ts';
import { type Bucket, pay } from './limits.ts';
import { type IssuedToken, issueToken, notFor, recordIssue } from './issue-token.ts';
import { findGiven, type GivenGrant, type Origin, replaceGiven, saveGiven } from './records.ts';
import { allowedAt, findRights } from './rights.ts';
import type { GnapServer } from './server.ts';
import { subjectAnswer } from './subject.ts';

/** A grant whose tokens are about to be issued. */
export type Giving = Omit<GivenGrant, 'jtis'>;

/**
 * Issues the tokens of a grant, with the part of them that its person has allowed. They replace the earlier tokens,
 * which end. Returns `access_token` and `subject` of the answer. Throws `GnapError` if the grant or the client has
 * ended.
 */
export async function give(server: GnapServer, giving: Giving, from: Origin): Promise<object> {
  const { clientId, accountId, subject, authTime, assurance, isList, grantId, key, generation } =
    giving;
  const [client, access] = await Promise.all([
    clientOf(server, giving),
    findAccess(server, grantId),
  ]);
  if (client === undefined || access === undefined) throw ended();
  // Claims about the person need no access token.
  if (!(await mayUseNow(server, client, accountId, assurance.acr))) throw notFor();
  const allowed = await findRights(server, grantId);
  const spaces = gnapSpaces(server.config);
  const before = await findGiven(server, giving.id);
  const person = { accountId, grantId, authTime, assurance, record: giving.id };
  const orders = giving.tokens.flatMap((token) => {
    const resolved = resolveAccess(spaces, client, token.access);
    const { space } = resolved;
    const own = grantedOf(resolved, allowedAt(allowed, space.url));
    const bearer = token.flags.includes('bearer') && client.gnap?.bearer === true;
    const order = { clientId, generation, key, person, ...own, bearer, space };
    const { label } = token;
    return own.access.length === 0 ? [] : { ...order, ...(label !== undefined && { label }) };
  });
  await pay(server, { buckets: (before?.jtis ?? []).map(() => endsOf(server, accountId)) });
  const issued = await Promise.all(orders.map((order) => issueToken(server, order)));
  if (issued.length > 0) await recordIssue(server, from, clientId, accountId);
  await replaceTokens(server, giving, issued, before !== undefined);
  const answers = issued.map(({ answer }) => answer);
  const known = subject && (await server.directory.find(accountId));
  const told = { clientId, authTime, assurance, allowed: new Set(allowed.scopes['']) };
  const about = known && (await subjectAnswer(server, subject, { ...told, person: known }));
  return {
    ...(answers.length > 0 && { access_token: isList ? answers : answers[0] }),
    ...(about && { subject: about }),
  };
}

const ended = () => new GnapError('invalid_continuation', 'the grant has ended');

/** Whether a grant allows all these items. */
export const allows = (
  allowed: Readonly<Record<string, readonly string[]>>,
  items: readonly ScopeItem[],
): boolean => items.every(({ scope, resource = '' }) => allowed[resource]?.includes(scope));

/**
 * Stores which tokens are valid now, and ends the earlier ones. Of two concurrent calls, the tokens of the later one
 * are valid.
 */
async function replaceTokens(
  server: GnapServer,
  giving: Giving,
  issued: readonly IssuedToken[],
  isKnown: boolean,
): Promise<void> {
  const jtis = issued.map(({ jti }) => jti);
  for (;;) {
    if (giving.exp <= epochSeconds(server.clock)) throw ended();
    const was = await findGiven(server, giving.id);
    const given: GivenGrant = { ...giving, jtis };
    // An existing grant has ended meanwhile.
    if (was === undefined && isKnown) throw ended();
    if (was === undefined) return saveGiven(server, given);
    // The old tokens end first: if this failed later, a repeated request would not find them.
    await endTokens(server, was.jtis);
    if (await replaceGiven(server, given, was)) return;
  }
}

/** Returns the bucket for tokens that are about to end, since every server remembers each of them for days. */
export const endsOf = ({ config }: Pick<GnapServer, 'config'>, accountId: string): Bucket => [
  'revocations',
  accountId,
  config.limits.visits,
];

/** Ends tokens at once. */
export async function endTokens(
  { stores, clock, longestLife }: GnapServer,
  jtis: readonly string[],
): Promise<void> {
  const until = rememberUntil(clock.now(), longestLife);
  for (const jti of jtis) await stores.revocations.revoke('token', jti, until);
}
