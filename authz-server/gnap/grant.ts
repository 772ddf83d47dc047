import { epochSeconds } from '#shared/base/clock.ts';
import { gnapSpaces } from '#shared/config/token-spaces.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { isPlain, resolveAccess, wholeOf } from './access.ts';
import { findClient, type FoundClient } from './clients.ts';
import { type Bucket, ofClient, ofStranger } from './limits.ts';
import { GnapError } from './gnap-error.ts';
import { CONTENTS, type Modification, readContent, tokensOf } from './grant-request.ts';
import { beginInteraction, interactAnswer } from './interaction.ts';
import { issueToken, recordIssue } from './issue-token.ts';
import { demandProof, type Received } from './receive.ts';
import {
  hashed,
  LIFETIME,
  newContinuation,
  type Origin,
  type PendingGrant,
  savePending,
  type Wanted,
} from './records.ts';
import type { GnapServer } from './server.ts';
import { subjectItems } from './subject.ts';
import { expectedPerson } from './user-hint.ts';

/** Seconds that a client waits between two polls. RFC 9635 section 3.1 requires at least five. */
export const WAIT = 5;

/** Answers a request for access (RFC 9635 section 2) with tokens, or with the way to a person who decides. */
export async function requestGrant(server: GnapServer, received: Received): Promise<object> {
  const { from } = received;
  const body = readContent(CONTENTS.request, received.content);
  const client = await findClient(server, body.client);
  const { clientId } = client.asking;
  const { limits } = server.config;
  const waits = body.interact !== undefined;
  const buckets: readonly Bucket[] = [
    ...(waits || client.record.gnap?.unknown ? ofStranger(server, from.address) : []),
    ...(waits ? ([['visits', clientId, limits.visits]] as const) : []),
    ofClient(server, clientId),
  ];
  await demandProof(server, received, client.key, { buckets });
  note(received.request, { client: clientId });
  const wanted = wantedOf(server, client.record, body);
  const expected = await expectedPerson(server, body.user);
  if (body.interact !== undefined) {
    const { modes, ...interaction } = beginInteraction(server, client.record, body.interact);
    const iat = epochSeconds(server.clock);
    const continuation = newContinuation(server);
    const pending: PendingGrant = {
      ...client.asking,
      ...wanted,
      ...interaction,
      ...(expected && { expected }),
      id: hashed(continuation),
      from,
      iat,
      exp: iat + LIFETIME,
    };
    await savePending(server, pending);
    await server.stores.limits.spend(...pollOf(pending.id));
    return pendingAnswer(server, pending, modes, continuation);
  }
  if (wanted.subject !== undefined || expected !== undefined) throw needsPerson();
  return { access_token: await ofMachine(server, client, wanted, from) };
}

/**
 * Returns the bucket of a grant, which stays empty until its client has waited since its last answer (RFC 9635 section
 * 5).
 */
export const pollOf = (id: string): Bucket => ['gnap-poll', id, { burst: 1, per: WAIT }];

/** The answer to a client that has to wait for a person. */
export function pendingAnswer(
  server: GnapServer,
  pending: PendingGrant,
  modes: Parameters<typeof interactAnswer>[2],
  continuation: string,
): object {
  return {
    interact: interactAnswer(server, pending, modes),
    ...continueAnswer(server, continuation),
  };
}

/**
 * Returns the member `continue` of an answer (RFC 9635 section 3.1). The token stays the same, so a lost answer does no
 * harm.
 */
export const continueAnswer = ({ config }: Pick<GnapServer, 'config'>, continuation: string) => ({
  continue: {
    uri: `${config.issuer}/gnap/continue`,
    wait: WAIT,
    access_token: { value: continuation },
  },
});

/** Returns the access that a request asks for, after checking that the client may ask for it. Throws `GnapError`. */
export function wantedOf(
  { config }: Pick<GnapServer, 'config'>,
  client: ClientRecord,
  body: Modification,
): Wanted {
  const tokens = tokensOf(body);
  const spaces = gnapSpaces(config);
  for (const { access, flags } of tokens) {
    const resolved = resolveAccess(spaces, client, access);
    if (!flags.includes('bearer')) continue;
    if (client.gnap?.bearer !== true) {
      throw new GnapError('invalid_flag', 'this client may not have bearer tokens');
    }
    if (!resolved.space.schemes.includes('Bearer')) {
      throw new GnapError('invalid_flag', `${resolved.space.url} takes no bearer tokens`);
    }
    // A resource server that accepts Bearer knows only scopes.
    if (!isPlain(resolved)) {
      throw new GnapError('invalid_flag', 'a bearer token cannot restrict its scopes');
    }
  }
  const items = subjectItems(body.subject);
  const refused = items.find(({ scope }) => !parseScope(client.scope).has(scope));
  if (refused) {
    throw new GnapError('invalid_request', `subject: this client may not ask for ${refused.scope}`);
  }
  if (tokens.length + items.length === 0) {
    throw new GnapError(
      'invalid_request',
      'ask for access_token, or for a subject that is known here',
    );
  }
  const subject = items.length > 0 ? body.subject : undefined;
  return { tokens, isList: Array.isArray(body.access_token), ...(subject && { subject }) };
}

/** Issues tokens to a client that acts for itself, as OAuth does for client credentials. */
async function ofMachine(
  server: GnapServer,
  { asking, record }: FoundClient,
  { tokens, isList }: Wanted,
  from: Origin,
): Promise<unknown> {
  if (!record.grant_types.includes('client_credentials')) throw needsPerson();
  const spaces = gnapSpaces(server.config);
  const answers = await Promise.all(
    tokens.map(async ({ access, flags, label }) => {
      const resolved = resolveAccess(spaces, record, access);
      const { answer } = await issueToken(server, {
        ...wholeOf(resolved),
        ...asking,
        space: resolved.space,
        bearer: flags.includes('bearer'),
        ...(label !== undefined && { label }),
      });
      await recordIssue(server, from, asking.clientId);
      return answer;
    }),
  );
  return isList ? answers : answers[0];
}

const needsPerson = () =>
  new GnapError('request_denied', 'this needs a person: say in interact how you can reach one');
