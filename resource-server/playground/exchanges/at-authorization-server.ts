import { jsonOf } from '#shared/client/send.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import { clientAssertion, ASSERTION_TYPE } from './client-assertion.ts';
import { Browser } from '../browser.ts';
import type { Performing } from '../exchange.ts';
import type { PlannedRequest, ReadAnswer } from '../http1-message.ts';
import { jwtInClear } from './tokens.ts';

/** A form to the authorization server, with a client assertion as credentials. */
export const formTo = (
  target: string,
  members: Readonly<Record<string, string>>,
  assertion: string,
): PlannedRequest => ({
  to: 'authorization',
  method: 'POST',
  target,
  fields: [['Content-Type', 'application/x-www-form-urlencoded']],
  content: String(
    new URLSearchParams({
      ...members,
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: assertion,
    }),
  ),
});

/**
 * Returns a member of an answer in JSON (RFC 6749 section 5.1). Undefined: the answer is an error, or the page of a
 * proxy.
 */
export function memberOf(content: string, name: string): string | undefined {
  const answer = jsonOf({ body: Buffer.from(content) });
  const value = isObject(answer) ? answer[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Opens a browser of the playground's person. Requests without a title are not shown. */
export const browserOf = ({ send, visit, issuer, person }: Performing): Browser =>
  new Browser(
    (title, request) => (title === undefined ? visit(request) : send(title, request)),
    issuer,
    person,
  );

/** Uses a token, revokes it, and uses it again. */
export async function useAndRevoke(performing: Performing, token: string): Promise<void> {
  const { send, remark } = performing;
  const shown = showing(performing, token);
  const used = await send('The client sends the token to the resource', shown);
  const revoked = await revoke(performing, token);
  const again = await send('An attacker sends the token again', shown);
  // The remark needs all three answers, since a store or a server may be unavailable meanwhile.
  const isRefused = used.status === 200 && revoked.status === 200 && again.status === 401;
  if (isRefused) remark('The token has not expired. It is refused because it was revoked.');
}

/** The request to the resource that carries a token. */
export const showing = ({ target }: Performing, token: string): PlannedRequest => ({
  method: 'GET',
  target,
  fields: [['Authorization', `Bearer ${token}`]],
});

/** Revokes a token (RFC 7009). */
export function revoke(performing: Performing, token: string): Promise<ReadAnswer> {
  const members = { token, token_type_hint: 'access_token' };
  const revoking = formTo('/token/revocation', members, clientAssertion(performing, {}));
  return performing.send('The client no longer needs the token, and revokes it', revoking);
}

const HAS_JWT: ReadonlySet<string> = new Set([
  'token68',
  'token',
  'access_token',
  'client_assertion',
]);

/** Decodes the JWTs of these exchanges for people. */
export const decodedJwt = (name: string, value: string): string | undefined =>
  HAS_JWT.has(name) ? jwtInClear(value) : undefined;
