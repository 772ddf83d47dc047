import { createPublicKey, verify } from 'node:crypto';
import { epochSeconds } from '#shared/base/clock.ts';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { PLAYGROUND_CLIENT } from '#shared/config/playground-client.ts';
import { readJwt } from '#shared/explain/schemes/jwt.ts';
import type { JsonObject } from '#shared/jose/compact-jws.ts';
import { type Checks, isAccepted, type Recorded } from '../recorded.ts';
import { type CheckStep, checksInOrder } from './in-order.ts';

interface Known extends Recorded {
  readonly form: URLSearchParams;
  readonly claims: JsonObject;
}

const formOf = ({ content }: Recorded['asked']) => new URLSearchParams(content.toString());
const claimsOf = (form: URLSearchParams): JsonObject =>
  readJwt(form.get('client_assertion') ?? '').payload ?? {};

function isSigned({ form, clientKey }: Known): boolean {
  const [header, payload, signature = ''] = (form.get('client_assertion') ?? '').split('.');
  const input = Buffer.from(`${header}.${payload}`);
  return verify(null, input, createPublicKey(clientKey), Buffer.from(signature, 'base64url'));
}

const wasUsed = ({ earlier, claims }: Known): boolean =>
  earlier.some(
    ({ asked, answer }) => isAccepted(answer) && claimsOf(formOf(asked))['jti'] === claims['jti'],
  );

/** The client first, then what it asks for, as the authorization server looks at them. */
const STEPS: readonly CheckStep<Known>[] = [
  {
    check: 'iss and sub of the assertion are a client that is registered.',
    section: 'RFC 7523 section 3',
    finds: ({ claims: { iss, sub } }) =>
      iss === PLAYGROUND_CLIENT && sub === iss ? undefined : 'nobody has registered this client',
  },
  {
    check: 'aud is this authorization server alone.',
    section: 'RFC 7523 section 3',
    finds: ({ claims, issuer }) =>
      claims['aud'] === issuer ? undefined : 'the audience is another server',
  },
  {
    check: 'The assertion has not expired.',
    section: 'RFC 7523 section 3',
    finds: ({ claims, clock }) =>
      Number(claims['exp']) > epochSeconds(clock) ? undefined : 'it has expired',
  },
  {
    check: 'The registered key of the client has signed it.',
    section: 'RFC 7515 section 5.2',
    finds: (known) => (isSigned(known) ? undefined : 'another key has signed it'),
  },
  {
    check: 'No request has used its jti before.',
    section: 'RFC 7523 section 3',
    finds: (known) => (wasUsed(known) ? 'its jti was used before' : undefined),
  },
  {
    check: 'The client may have tokens for this resource.',
    section: 'RFC 8707 section 2',
    applies: ({ form }) => form.has('resource'),
    finds: ({ form, url }) =>
      form.get('resource') === url ? undefined : 'the client has no such resource',
  },
  {
    check: 'The client may have the scopes there.',
    section: 'RFC 6749 section 3.3',
    applies: ({ form }) => form.has('scope'),
    finds: ({ form }) =>
      form.get('scope') === PLAYGROUND_SCOPE ? undefined : 'the client may not have the scope',
  },
  {
    check: 'The token was issued to this client.',
    section: 'RFC 7009 section 2.1',
    applies: ({ form }) => form.has('token'),
    finds: ({ form, claims }) =>
      readJwt(form.get('token') ?? '').payload?.['client_id'] === claims['sub']
        ? undefined
        : 'the token was issued to another client',
  },
];

/** A request to the token or the revocation endpoint, with an assertion of the client. */
export const tokenEndpointChecks: Checks = (recorded) => {
  const form = formOf(recorded.asked);
  return checksInOrder(STEPS, { ...recorded, form, claims: claimsOf(form) });
};
