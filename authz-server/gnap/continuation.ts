import { isDeepStrictEqual } from 'node:util';
import { epochSeconds } from '#shared/base/clock.ts';
import { sameText } from '#shared/base/constant-time.ts';
import { gnapSpaces } from '#shared/config/token-spaces.ts';
import { endGrant } from '#shared/people/access/grants.ts';
import { readKey } from '#shared/gnap/key.ts';
import { note } from '#shared/server/message/request-log.ts';
import { grantedOf, itemsOf, resolveAccess, wholeOf } from './access.ts';
import { clientOf } from './clients.ts';
import { allows, give } from './give.ts';
import { GnapError } from './gnap-error.ts';
import { continueAnswer, pendingAnswer, pollOf, WAIT, wantedOf } from './grant.ts';
import { CONTENTS, type Modification, readContent } from './grant-request.ts';
import { beginInteraction } from './interaction.ts';
import { type Bucket, ofClient, type Price } from './limits.ts';
import { demandProof, type Received, tokenOf } from './receive.ts';
import {
  type AskingClient,
  type Decision,
  findGiven,
  findPending,
  type GivenGrant,
  hashed,
  LIFETIME,
  type Origin,
  type PendingGrant,
  removePending,
  replacePending,
  savePending,
} from './records.ts';
import { allowedAt, findRights } from './rights.ts';
import type { GnapServer } from './server.ts';
import { subjectItems } from './subject.ts';
import { expectedPerson } from './user-hint.ts';

/** A pending or given grant to which its client returns. */
interface Continued {
  readonly continuation: string;
  readonly pending: PendingGrant | undefined;
  readonly given: GivenGrant | undefined;
}

/** Finds the grant of a continuation token, and demands a proof of its key (RFC 9635 section 5). */
async function findContinued(
  server: GnapServer,
  received: Received,
  priceOf: (found: AskingClient) => Price,
): Promise<Continued> {
  const continuation = tokenOf(received.request);
  const id = hashed(continuation);
  const [pending, given] = await Promise.all([findPending(server, id), findGiven(server, id)]);
  const found = pending ?? given;
  if (found === undefined) throw ended();
  await demandProof(server, received, readKey(found.key), priceOf(found));
  if ((await clientOf(server, found)) === undefined) throw ended();
  note(received.request, { client: found.clientId });
  return { continuation, pending, given };
}

/** Answers a client that returns after a finished interaction, or asks whether a person has decided. */
export async function continueGrant(server: GnapServer, received: Received): Promise<object> {
  const { interact_ref: ref } =
    received.content.length > 0 ? readContent(CONTENTS.continuation, received.content) : {};
  const token = tokenOf(received.request);
  const further = continueAnswer(server, token);
  const { pending, given } = await findContinued(server, received, ({ clientId }) => ({
    buckets: [ref === undefined ? pollOf(hashed(token)) : ofClient(server, clientId)],
    refusal: () => new GnapError('too_fast', `wait ${WAIT} s between two polls`, further),
  }));
  if (pending !== undefined)
    return { ...further, ...(await afterWaiting(server, received.from, pending, ref, further)) };
  if (ref !== undefined || given === undefined) {
    throw new GnapError('too_many_attempts', 'the interaction reference was used', further);
  }
  return { ...further, ...(await give(server, given, received.from)) };
}

/** Resolves to undefined before a person has decided, and if the client asked for a finish but sends no reference. */
async function afterWaiting(
  server: GnapServer,
  from: Origin,
  pending: PendingGrant,
  ref: string | undefined,
  further: object,
): Promise<object> {
  const { decision, interactRef } = pending;
  if (ref !== undefined && (interactRef === undefined || !sameText(hashed(ref), interactRef))) {
    throw new GnapError('invalid_interaction', 'the reference is not of this grant', further);
  }
  if (decision === undefined || (interactRef !== undefined && ref === undefined)) return {};
  // Only one of several concurrent requests gets an answer.
  if (pending.taken || !(await replacePending(server, { ...pending, taken: true }, pending))) {
    throw new GnapError('too_many_attempts', 'another request was answered');
  }
  if (decision.kind === 'refused') {
    await removePending(server, pending.id);
    // The earlier grant stays, since the person refused only its modification.
    const more = pending.extends === undefined ? {} : further;
    throw new GnapError(decision.code, REFUSALS[decision.code], more);
  }
  try {
    return await giveApproved(server, pending, decision, from);
  } catch (error) {
    // The client can return with the same reference, since the request used up nothing.
    if (!(error instanceof GnapError)) {
      await replacePending(server, pending, { ...pending, taken: true });
    }
    throw error;
  }
}

async function giveApproved(
  server: GnapServer,
  { clientId, key, generation, tokens, isList, subject, id, extends: before }: PendingGrant,
  { grantId, accountId, authTime, assurance }: Extract<Decision, { kind: 'approved' }>,
  from: Origin,
): Promise<object> {
  const giving = {
    id,
    clientId,
    key,
    generation,
    tokens,
    isList,
    grantId,
    accountId,
    authTime,
    assurance,
    ...(subject && { subject }),
    exp: epochSeconds(server.clock) + server.config.people.grant,
  };
  const answer = await give(server, giving, from);
  if (before !== undefined && before !== grantId) await endGrant(server, before);
  await removePending(server, id);
  return answer;
}

const REFUSALS = {
  user_denied: 'the person refused',
  unknown_user: 'somebody else signed in than the person whom the request names',
};

/**
 * Changes the access of a grant (RFC 9635 section 5.3): at once if the person already allowed the access, otherwise
 * after asking.
 */
export async function modifyGrant(server: GnapServer, received: Received): Promise<object> {
  const { from } = received;
  const body = readContent(CONTENTS.modification, received.content);
  const { limits } = server.config;
  const visits = ({ clientId }: AskingClient): Bucket => ['visits', clientId, limits.visits];
  const { continuation, pending, given } = await findContinued(server, received, (found) => ({
    buckets: [
      ofClient(server, found.clientId),
      ...(body.interact === undefined ? [] : [visits(found)]),
    ],
  }));
  const further = continueAnswer(server, continuation);
  const before = pending ?? given;
  if (before === undefined || pending?.decision !== undefined) throw ended();
  const { clientId } = before;
  const client = await clientOf(server, before);
  if (client === undefined) throw ended();
  const asked: Modification = {
    access_token: before.isList ? [...before.tokens] : before.tokens[0],
    subject: before.subject,
    ...body,
  };
  const wanted = wantedOf(server, client, asked);
  const expected = await expectedPerson(server, body.user);
  if (given !== undefined) {
    const spaces = gnapSpaces(server.config);
    const accesses = wanted.tokens.map(({ access }) => resolveAccess(spaces, client, access));
    const items = [...accesses.flatMap(itemsOf), ...subjectItems(wanted.subject)];
    const allowed = await findRights(server, given.grantId);
    const isAllowed =
      allows(allowed.scopes, items) &&
      accesses.every((access) =>
        isDeepStrictEqual(grantedOf(access, allowedAt(allowed, access.space.url)), wholeOf(access)),
      );
    if (isAllowed) {
      // No request waits for a person.
      if (body.interact !== undefined) await server.stores.limits.giveBack(...visits(given));
      const { subject: _former, ...kept } = given;
      return { ...further, ...(await give(server, { ...kept, ...wanted }, from)) };
    }
  }
  if (body.interact === undefined) {
    throw new GnapError('request_denied', 'this needs a person: say in interact how', further);
  }
  const { modes, ...interaction } = beginInteraction(server, client, body.interact);
  const iat = epochSeconds(server.clock);
  const { key, name } = before as PendingGrant;
  const next: PendingGrant = {
    ...wanted,
    ...interaction,
    id: before.id,
    clientId,
    key,
    generation: before.generation,
    iat,
    exp: iat + LIFETIME,
    ...(name !== undefined && { name }),
    ...(expected && { expected }),
    from,
    ...(given && { extends: given.grantId }),
  };
  if (pending === undefined) await savePending(server, next);
  else if (!(await replacePending(server, next, pending))) throw ended();
  return pendingAnswer(server, next, modes, continuation);
}

/** Ends a grant with all its tokens (RFC 9635 section 5.4). */
export async function endGrantOf(server: GnapServer, received: Received): Promise<void> {
  const { pending, given } = await findContinued(server, received, ({ clientId }) => ({
    buckets: [ofClient(server, clientId)],
    ends: true,
  }));
  if (pending !== undefined) await removePending(server, pending.id);
  const { decision } = pending ?? {};
  const grants = [given?.grantId, decision?.kind === 'approved' ? decision.grantId : undefined];
  for (const grantId of grants) if (grantId !== undefined) await endGrant(server, grantId);
}

const ended = () =>
  new GnapError('invalid_continuation', 'there is no such grant, or it has ended');
