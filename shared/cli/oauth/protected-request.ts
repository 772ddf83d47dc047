import {
  isDPoPNonceError,
  protectedResourceRequest,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { Failure } from '../arguments/command.ts';
import type { Prover } from './dpop.ts';
import type { Message, Reply, Send } from '#shared/client/send.ts';
import { parseSafeUrl } from './http.ts';
import { throughLibrary } from './library.ts';
import { findMetadata, isWithin, type ResourceMetadata } from './resource-metadata.ts';
import { decodeJwt } from 'jose';
import { audienceOf } from './login.ts';

const MOST_REDIRECTS = 5;

/** A token, and how it is sent. */
export interface Access {
  readonly accessToken: string;
  /**
   * Makes the proofs of the key to which the token is bound. Undefined: the token is not bound, and is sent as Bearer.
   */
  readonly prover?: Prover | undefined;
  /** Audience of the token, which is sent nowhere else. */
  readonly resource: string;
}

/** Gets a token for a resource that needs one. */
export type GetAccess = (metadata: ResourceMetadata) => Promise<Access>;

/**
 * Sends a message. If the answer is 401, it gets a token of the type that the resource accepts, and sends the message
 * again with it. It follows redirects at the same origin that keep the method. Any other redirect is returned as the
 * answer.
 */
export async function sendProtected(
  sendMessage: Send,
  message: Message,
  getAccess: GetAccess,
): Promise<Reply> {
  let url: string | undefined = message.url;
  let access: Access | undefined;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
    const current: Message = Object.assign({}, message, { url });
    if (access && !isWithin(url, access.resource)) access = undefined;
    let answer = await sendWithToken(sendMessage, current, access);
    if (answer.status === 401 && access === undefined) {
      access = await getAccess(await findMetadata(sendMessage, url, answer));
      answer = await sendWithToken(sendMessage, current, access);
    }
    url = redirectTarget(current, answer);
    if (url === undefined) return answer;
  }
  throw new Failure(`more than ${MOST_REDIRECTS} redirects`);
}

/**
 * Sends a message with the token and a DPoP proof for it (RFC 9449 section 7.1), and again if the server demands a
 * nonce (section 9). An unbound token is sent as Bearer. Without `access` the message is sent unchanged.
 */
export async function sendWithToken(
  sendMessage: Send,
  message: Message,
  access: Access | undefined,
): Promise<Reply> {
  if (access === undefined) return sendMessage(message);
  const { accessToken, prover, resource } = access;
  if (prover === undefined) {
    const authorization = bearerField(accessToken, resource);
    return sendMessage({ ...message, fields: { ...message.fields, authorization } });
  }
  const { method, url, fields, body } = message;
  const { reply } = await throughLibrary(sendMessage, async (options) => {
    const headers = new Headers(fields);
    const withProof = { ...options, DPoP: prover.handle };
    const attempt = () =>
      protectedResourceRequest(accessToken, method, new URL(url), headers, body, withProof);
    await attempt().catch(async (error: unknown) => {
      if (isDPoPNonceError(error)) await attempt().catch(unlessChallenge);
      else unlessChallenge(error);
    });
  });
  return reply;
}

/** A challenge is for the server that asked. */
function unlessChallenge(error: unknown): void {
  if (!(error instanceof WWWAuthenticateChallengeError)) throw error;
}

/** Returns the URL of a redirect to follow (RFC 9110 section 15.4). Undefined if the answer is final. */
function redirectTarget({ method, url }: Message, { status, fields }: Reply): string | undefined {
  const kept = status === 307 || status === 308;
  const retrieved = [301, 302, 303].includes(status) && ['GET', 'HEAD'].includes(method);
  const location = fields['location'];
  if (!(kept || retrieved) || location === undefined || !URL.canParse(location, url))
    return undefined;
  const target = parseSafeUrl(new URL(location, url).href.replace(/#.*$/, ''));
  return target?.origin === new URL(url).origin ? target.href : undefined;
}

/**
 * The Authorization field of a token that goes by Bearer (RFC 6750 section 2.1). The receiver can use a Bearer token
 * wherever it is valid, so the token must be valid only for this resource (RFC 8707 section 3). A bound token is never
 * sent as Bearer, since a server without DPoP would accept it from any client (RFC 9449 section 7.2). Throws `Failure`.
 */
function bearerField(accessToken: string, resource: string): string {
  const audience = audienceOf(accessToken);
  if (audience !== resource) {
    const named = audience ?? 'no single resource that it names';
    throw new Failure(`the token is for ${named}, not for ${resource} alone: it is not sent`);
  }
  if (decodeJwt(accessToken)['cnf'] !== undefined) {
    throw new Failure(`the token is bound to a key, and ${resource} takes Bearer alone: not sent`);
  }
  return `Bearer ${accessToken}`;
}
