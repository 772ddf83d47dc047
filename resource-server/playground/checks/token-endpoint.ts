import { createPublicKey, verify } from 'node:crypto';
import { epochSeconds } from '#shared/base/clock.ts';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import type { Check } from '#shared/explain/checks.ts';
import { readJwt } from '#shared/explain/schemes/jwt.ts';
import type { JsonObject } from '#shared/jose/compact-jws.ts';
import { CLIENT } from '../browser.ts';
import { type Checks, isTaken, type Recorded } from '../recorded.ts';

/** A request with an assertion of the client. */
export interface KnownForm extends Recorded {
  readonly form: URLSearchParams;
  readonly claims: JsonObject;
}

export const formOf = ({ content }: Recorded['asked']) => new URLSearchParams(content.toString());
const claimsOf = (form: URLSearchParams): JsonObject =>
  readJwt(form.get('client_assertion') ?? '').payload ?? {};

function isSigned({ form, clientKey }: KnownForm): boolean {
  const [header, payload, signature = ''] = (form.get('client_assertion') ?? '').split('.');
  const input = Buffer.from(`${header}.${payload}`);
  return verify(null, input, createPublicKey(clientKey), Buffer.from(signature, 'base64url'));
}

const wasUsed = ({ earlier, claims }: KnownForm): boolean =>
  earlier.some(
    ({ asked, answer }) => isTaken(answer) && claimsOf(formOf(asked))['jti'] === claims['jti'],
  );

/** The client first, as the authorization server looks at it. */
const CLIENT_STEPS: readonly JudgedStep<KnownForm>[] = [
  {
    check: 'iss and sub of the assertion are a client that is registered.',
    section: 'RFC 7523 section 3',
    finds: ({ claims: { iss, sub } }) =>
      iss === CLIENT && sub === iss ? undefined : 'nobody has registered this client',
  },
  {
    check: 'aud is this authorization server alone.',
    section: 'RFC 7523 section 3',
    finds: (known) =>
      known.claims['aud'] === known.issuer ? undefined : 'the audience is another server',
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
];

/** Then what it asks for. */
const ASKED_STEPS: readonly JudgedStep<KnownForm>[] = [
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

/** Checks of forms with an assertion of the client. `steps`: those of the exchange, before what is the same for all. */
export const formChecks =
  (steps: readonly JudgedStep<KnownForm>[]): Checks =>
  (recorded) => {
    const form = formOf(recorded.asked);
    const known = { ...recorded, form, claims: claimsOf(form) };
    return judged([...CLIENT_STEPS, ...steps, ...ASKED_STEPS], known);
  };

/** A request to the token or the revocation endpoint, with an assertion of the client. */
export const tokenEndpointChecks: Checks = formChecks([]);

/** One thing that the authorization server checks, which tells too little of it: the messages before say what it finds. */
export interface JudgedStep<Known> {
  readonly check: string;
  readonly section: string;
  /** True if there is something to check. Absent: there always is. */
  applies?(known: Known): boolean;
  /** Returns why the server refuses. Undefined: it does not. */
  finds(known: Known): string | undefined;
}

/** Makes the checks that apply, up to the first refusal. */
export function judged<Known>(steps: readonly JudgedStep<Known>[], known: Known): readonly Check[] {
  const applying = steps.filter(({ applies }) => applies?.(known) ?? true);
  const end = applying.findIndex(({ finds }) => finds(known) !== undefined);
  return applying.map(({ check, section, finds }, at): Check => {
    if (end === -1 || at < end) return { check, section, result: 'right' };
    if (at > end) return { check, section, result: 'not reached' };
    return { check, section, result: 'wrong', reason: finds(known) ?? '' };
  });
}
