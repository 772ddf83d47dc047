import { isDeepStrictEqual } from 'node:util';
import { decodeJwt } from 'jose';
import { createTokenVerifier, type TokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import { everyTokenSpace } from '#shared/config/token-spaces.ts';
import type { AccessTokenClaims } from '#shared/jose/access-token-claims.ts';
import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import { note } from '#shared/server/message/request-log.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { findClient } from './clients.ts';
import { CONTENTS, readContent } from './grant-request.ts';
import { ofClient, ofStranger } from './limits.ts';
import { demandProof, type Received } from './receive.ts';
import type { GnapServer } from './server.ts';

const INACTIVE = { active: false };

/** Answers registered resource servers about GNAP access tokens (RFC 9767 section 3.3). */
export function createIntrospection(server: GnapServer) {
  const { config, feed, clock, publicKey } = server;
  const { issuer, tokens: settings } = config;
  const keys = { key: (kid: string) => publicKey(kid) };
  const tokens = createTokenVerifier({ issuer, keys, feed, clock, skew: settings.skew });

  return async (received: Received): Promise<object> => {
    const asked = readContent(CONTENTS.introspection, received.content);
    const { asking, key, record } = await findClient(server, asked.resource_server);
    const stranger = record.gnap?.unknown ? ofStranger(server, received.from.address) : [];
    const buckets = [...stranger, ofClient(server, asking.clientId)];
    await demandProof(server, received, key, { buckets });
    note(received.request, { client: asking.clientId });
    const audiences = new Set(record.introspects);
    const own = everyTokenSpace(config).filter(({ url }) => audiences.has(url));
    const claims = await verified(
      tokens,
      asked.access_token,
      own.map(({ url }) => url),
    );
    if (claims?.access === undefined) return INACTIVE;
    const { cnf, access, iat, exp, aud, sub, client_id, acr, amr, auth_time } = claims;
    const proof = boundKey(cnf);
    const isAsProved = asked.proof === undefined || asked.proof === methodOf(proof);
    const isEnough = (asked.access ?? []).every((right) => includes(access, right));
    if (!isAsProved || !isEnough) return INACTIVE;
    return {
      active: true,
      iss: `${issuer}/gnap`,
      access,
      ...(proof ? { key: proof } : { flags: ['bearer'] }),
      iat,
      exp,
      aud,
      sub,
      instance_id: client_id,
      // The claims are those of OAuth (RFC 9470 section 6.2), so that a resource server can ask for another sign-in.
      acr,
      amr,
      auth_time,
    };
  };
}

/** Returns the key of a token as a resource server gets it. Returns undefined for a bearer token. */
function boundKey(cnf: AccessTokenClaims['cnf']): JsonObject | undefined {
  if (cnf === undefined || 'jkt' in cnf) return undefined;
  return 'jwk' in cnf
    ? { proof: 'httpsig', ...cnf }
    : { proof: 'mtls', 'cert#S256': cnf['x5t#S256'] };
}

function methodOf(key: JsonObject | undefined): unknown {
  const proof = key?.['proof'];
  return isObject(proof) ? proof['method'] : proof;
}

/** Returns the claims of a GNAP token that is valid for one of these audiences. */
async function verified(
  tokens: TokenVerifier,
  token: string,
  audiences: readonly string[],
): Promise<AccessTokenClaims | undefined> {
  if (audiences.length === 0) return undefined;
  const verdict = await tokens.verify(token, audiences);
  if (verdict.kind === 'unavailable') throw new StoreUnavailable(verdict.reason);
  return verdict.kind === 'verified' ? decodeJwt(token) : undefined;
}

/** Whether a token has a right. A right that this server does not understand is not among them. */
function includes(granted: readonly unknown[], asked: string | object): boolean {
  return granted.some((right) => {
    if (typeof asked === 'string' || typeof right !== 'object') return right === asked;
    const { actions: many = [], ...own } = right as { actions?: string[] };
    const { actions = [], ...others } = asked as { actions?: unknown };
    const isSubset = Array.isArray(actions) && actions.every((action) => many.includes(action));
    return isSubset && isDeepStrictEqual(own, others);
  });
}
