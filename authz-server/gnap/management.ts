import { isDeepStrictEqual } from 'node:util';
import { epochSeconds } from '#shared/base/clock.ts';
import { gnapSpaces } from '#shared/config/token-spaces.ts';
import { BadKey, type GnapKey, readKey } from '#shared/gnap/key.ts';
import { proveRotation } from '#shared/gnap/prove.ts';
import { note } from '#shared/server/message/request-log.ts';
import { BadSignature } from '#shared/signatures/message.ts';
import { type Access, grantedOf, resolveAccess, wholeOf } from './access.ts';
import { refuseOtherUse, registered, registrationOf } from './clients.ts';
import { endsOf, endTokens } from './give.ts';
import { GnapError } from './gnap-error.ts';
import { CONTENTS, readContent } from './grant-request.ts';
import { issueToken, recordIssue } from './issue-token.ts';
import { type Managed, readManagement } from './management-token.ts';
import { ofClient, paidReplay, type Price } from './limits.ts';
import { demandProof, proofOptions, provedRequest, type Received, tokenOf } from './receive.ts';
import { findGiven, replaceGiven } from './records.ts';
import { allowedAt, findRights } from './rights.ts';
import type { GnapServer } from './server.ts';
import type { TokenOrder } from './token-order.ts';

/** Seconds for which the server notices a second rotation of the same token. Afterwards the token is simply revoked. */
const MEMORY = 60;

/**
 * Finds the access token that a request manages, by the management token in the request, at the address of the access
 * token.
 */
function managedBy(server: GnapServer, { request }: Received, jti: string): Managed {
  const managed = readManagement(server, tokenOf(request));
  if (managed?.claims.jti !== jti) {
    throw new GnapError(
      'invalid_rotation',
      'the management token is not of this address, or too old',
    );
  }
  note(request, { client: managed.clientId });
  return managed;
}

/**
 * Issues a new access token and ends the old one at once (RFC 9635 section 6.1). If the content has another key, the
 * new token is bound to that key (section 6.1.1).
 */
export async function rotateToken(
  server: GnapServer,
  received: Received,
  jti: string,
): Promise<object> {
  const managed = managedBy(server, received, jti);
  const { claims, person } = managed;
  const price = await priceOfEnd(server, managed);
  const key = await boundKey(server, received, managed, price);
  const order: TokenOrder = { ...(await sameAgain(server, managed)), key };
  if ((await server.feed.latest()).revokedBy(claims) !== undefined) throw ended();
  if (!(await server.stores.replay.unique('gnap-rotate', jti, MEMORY))) throw ended();
  const issued = await issueToken(server, order);
  await recordIssue(server, received.from, managed.clientId, person?.accountId);
  await endTokens(server, [jti]);
  if (person && !(await takePlace(server, person.record, jti, issued.jti))) {
    await endTokens(server, [issued.jti]);
    throw refused('the grant was modified meanwhile');
  }
  return { access_token: issued.answer };
}

interface PriceOfEnd extends Price {
  readonly hasEnded: boolean;
}

/** If the token has already ended, the request pays only for the proof. */
async function priceOfEnd(server: GnapServer, { claims, clientId }: Managed): Promise<PriceOfEnd> {
  const hasEnded = (await server.feed.latest()).revokedBy(claims) !== undefined;
  return {
    hasEnded,
    buckets: [hasEnded ? ofClient(server, clientId) : endsOf(server, claims.sub)],
  };
}

/**
 * Returns the contents of the new token, which are those of the old one. Throws `GnapError` if client and person do not
 * allow all of it any more.
 */
async function sameAgain(server: GnapServer, managed: Managed): Promise<Omit<TokenOrder, 'key'>> {
  const { access, scopes, bearer, label, clientId, person } = managed;
  const client = await registered(server, clientId);
  const space = gnapSpaces(server.config).find(({ url }) => url === managed.space);
  if (client === undefined || space === undefined) throw ended();
  const allowed = person && (await findRights(server, person.grantId));
  const resolved = stillOpen([space], client, access);
  const granted = allowed ? grantedOf(resolved, allowedAt(allowed, space.url)) : wholeOf(resolved);
  const isSame = isDeepStrictEqual(granted, { access, scopes });
  if (!isSame || (bearer && !client.gnap.bearer)) {
    throw refused('the client may not have this access any more');
  }
  return {
    ...granted,
    bearer,
    clientId,
    generation: managed.claims.client_gen,
    space,
    ...(label !== undefined && { label }),
    ...(person && { person }),
  };
}

function stillOpen(...[spaces, client, asked]: Parameters<typeof resolveAccess>): Access {
  try {
    return resolveAccess(spaces, client, asked);
  } catch (error) {
    throw error instanceof GnapError ? refused(error.message) : error;
  }
}

/** The grant's record lists the valid tokens, so a modification of the grant ends the rotated token, too. */
async function takePlace(
  server: GnapServer,
  record: string,
  before: string,
  after: string,
): Promise<boolean> {
  for (;;) {
    const given = await findGiven(server, record);
    if (!given?.jtis.includes(before) || given.exp <= epochSeconds(server.clock)) return false;
    const jtis = given.jtis.map((one) => (one === before ? after : one));
    if (await replaceGiven(server, { ...given, jtis }, given)) return true;
  }
}

/**
 * Returns the key to which the new token is bound, after the client has proved the required keys. Throws `GnapError`.
 */
async function boundKey(
  server: GnapServer,
  received: Received,
  { key, bearer }: Managed,
  price: Price,
): Promise<Managed['key']> {
  const { content } = received;
  const asked = content.length > 0 ? readContent(CONTENTS.rotation, content).key : undefined;
  const from = readKey(key);
  if (asked === undefined) {
    await demandProof(server, received, from, price);
    return key;
  }
  const to = newKey(asked);
  if (from.proof === 'mtls') {
    throw new GnapError('key_rotation_not_supported', 'mtls has no rotation (section 7.3.2.1)');
  }
  const next = registrationOf(asked, to);
  if (bearer || to.proof === 'mtls' || !isDeepStrictEqual(next.proof, key.proof)) {
    throw refused('the proof method of a key stays the same, and a bearer token has no key');
  }
  await refuseOtherUse(server, next);
  try {
    const replay = paidReplay(server, price);
    const options = { ...proofOptions(server), replay };
    await proveRotation(provedRequest(server, received), { from, to }, options);
  } catch (error) {
    throw error instanceof BadSignature ? refused(`key proof: ${error.message}`) : error;
  }
  return next;
}

function newKey(asked: unknown): GnapKey {
  try {
    return readKey(asked);
  } catch (error) {
    throw error instanceof BadKey ? refused(error.message) : error;
  }
}

/** Ends an access token at once (RFC 9635 section 6.2). A token that has already ended is no error. */
export async function revokeToken(
  server: GnapServer,
  received: Received,
  jti: string,
): Promise<void> {
  const managed = managedBy(server, received, jti);
  const price = await priceOfEnd(server, managed);
  await demandProof(server, received, readKey(managed.key), { ...price, ends: !price.hasEnded });
  // Another request may have ended the token, and may still wait until all servers know.
  if (price.hasEnded) await server.stores.revocations.untilKnown();
  else await endTokens(server, [jti]);
}

const refused = (description: string) => new GnapError('invalid_rotation', description);
const ended = () => refused('the token was rotated, or has ended');
