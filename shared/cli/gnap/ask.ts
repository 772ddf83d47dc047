import { createPublicKey } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { Message, Reply, Send } from '#shared/client/send.ts';
import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import { Failure } from '../arguments/command.ts';
import { jsonObject, parseSafeUrl } from '../oauth/http.ts';
import { readSigningJwk } from '../signatures/jwk-file.ts';
import { signedMessage } from '../signatures/signed-message.ts';

/** A GNAP client, whose private JWK is in a file. */
export interface GnapClient {
  readonly send: Send;
  readonly keyFile: string;
  readonly clock: Clock;
}

/** The URI and token with which a client continues a grant (RFC 9635 section 3.1). */
export interface Continuation {
  readonly uri: string;
  readonly token: string;
  /** Seconds between two polls. */
  readonly wait: number;
}

/** An answer of the authorization server (RFC 9635 section 3). */
export interface GrantAnswer {
  readonly token?: string;
  readonly continuation?: Continuation;
  readonly interact: JsonObject;
  /** The error code of section 3.6, with its description. */
  readonly error?: { readonly code: string; readonly text: string };
}

/** Sends a message with a signature by the client's key, which also covers the access token. */
export function sendSigned(
  { send, keyFile, clock }: GnapClient,
  message: Message,
  token?: string,
): Promise<Reply> {
  const fields = {
    ...message.fields,
    ...(token !== undefined && { authorization: `GNAP ${token}` }),
  };
  return signedMessage({ ...message, fields }, keyFile, 'gnap', clock).then(send);
}

/** Asks a grant endpoint for access, and sends the public key itself rather than a reference. Throws `Failure`. */
export async function askForGrant(
  client: GnapClient,
  endpoint: string,
  request: JsonObject,
): Promise<GrantAnswer> {
  const { kid, alg, key } = await readSigningJwk(client.keyFile);
  const jwk = { ...createPublicKey(key).export({ format: 'jwk' }), kid, alg };
  const display = { name: 'Countersign command line' };
  const body = { ...request, client: { key: { proof: 'httpsig', jwk }, display } };
  return sendJson(client, endpoint, body);
}

/** Continues a grant. A request without an interaction reference is a poll. Throws `Failure`. */
export function continueGrant(
  client: GnapClient,
  { uri, token }: Continuation,
  interactRef?: string,
): Promise<GrantAnswer> {
  const body = interactRef === undefined ? undefined : { interact_ref: interactRef };
  return sendJson(client, uri, body, token);
}

/** Ends a grant and its tokens. */
export async function endGrant(client: GnapClient, { uri, token }: Continuation): Promise<void> {
  await sendSigned(client, { method: 'DELETE', url: uri, fields: {} }, token);
}

async function sendJson(
  client: GnapClient,
  url: string,
  body: object | undefined,
  token?: string,
): Promise<GrantAnswer> {
  const message: Message = {
    method: 'POST',
    url,
    fields: { ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  };
  return readAnswer(jsonObject(await sendSigned(client, message, token), url), url);
}

function readAnswer(answer: JsonObject, from: string): GrantAnswer {
  const { access_token: issued, continue: further, interact, error } = answer;
  const token = isObject(issued) ? issued['value'] : undefined;
  const continuation = isObject(further) ? readContinuation(further, from) : undefined;
  return {
    interact: isObject(interact) ? interact : {},
    ...(typeof token === 'string' && { token }),
    ...(continuation && { continuation }),
    ...(error !== undefined && { error: readError(error) }),
  };
}

function readError(error: unknown): NonNullable<GrantAnswer['error']> {
  const { code, description } = isObject(error) ? error : { code: error, description: undefined };
  const text = typeof description === 'string' ? `${String(code)}: ${description}` : String(code);
  return { code: String(code), text };
}

/** Seconds between polls if the server names no interval (RFC 9635 section 5). */
const WAIT = 5;

function readContinuation(further: JsonObject, from: string): Continuation {
  const { uri, wait, access_token: token } = further;
  const value = isObject(token) ? token['value'] : undefined;
  // The key signs each request to this URI, so the URI must belong to the server that was asked.
  const isOurs = typeof uri === 'string' && parseSafeUrl(uri)?.origin === new URL(from).origin;
  if (!isOurs || typeof value !== 'string') {
    throw new Failure(`${from} names no way back to the grant (RFC 9635 section 3.1)`);
  }
  return { uri, token: value, wait: typeof wait === 'number' && wait > 0 ? wait : WAIT };
}
