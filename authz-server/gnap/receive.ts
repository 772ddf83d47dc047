import { hash } from 'node:crypto';
import { epochSeconds } from '#shared/base/clock.ts';
import type { GnapKey } from '#shared/gnap/key.ts';
import { prove, type ProvedRequest, type ProveOptions } from '#shared/gnap/prove.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import { HttpError } from '#shared/http/answer.ts';
import { lines, single } from '#shared/http/fields.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { BadSignature } from '#shared/signatures/message.ts';
import { GnapError } from './gnap-error.ts';
import { paidReplay, pay, type Price } from './limits.ts';
import type { Origin } from './records.ts';
import type { GnapServer } from './server.ts';

/** The most octets of a request, since a request that waits for a person is stored. */
const LONGEST = 16 * 1024;

/** A request with its content. */
export interface Received {
  readonly request: AnyRequest;
  readonly from: Origin;
  readonly content: Buffer;
  /** Whether the request comes from a proxy whose Client-Cert field is trusted. */
  readonly fromProxy: boolean;
}

/** Receives the content of a request: JSON, or no content. Throws `HttpError` 413 and 415. */
export async function receive(
  request: AnyRequest,
  from: Origin,
  proxies: TrustedProxies,
): Promise<Received> {
  const content = await wholeContent(
    request,
    LONGEST,
    () => new HttpError(413, `The content has at most ${LONGEST} octets.`),
  );
  const [type] = (single(request.rawHeaders, 'content-type') ?? '').split(';');
  if (content.length > 0 && type?.trim().toLowerCase() !== 'application/json') {
    throw new HttpError(415, 'Send JSON, as application/json.', { Accept: 'application/json' });
  }
  return { request, from, content, fromProxy: proxies.has(request.socket.remoteAddress ?? '') };
}

/** Returns the access token of a request, which has the scheme GNAP. Throws `GnapError` without one. */
export function tokenOf({ rawHeaders }: AnyRequest): string {
  const { scheme, token68 } = parseCredentials(single(rawHeaders, 'authorization') ?? '') ?? {};
  if (scheme !== 'gnap' || token68 === undefined) {
    throw new GnapError('invalid_continuation', 'send the token as Authorization: GNAP');
  }
  return token68;
}

/** Returns the request that the client signed: at the configured origin, whatever Host says. */
export function provedRequest(
  { config }: Pick<GnapServer, 'config'>,
  { request, content, fromProxy }: Received,
): ProvedRequest {
  const { method = '', url = '', rawHeaders, headers } = request;
  const path = url.replace(/^https?:\/\/[^/?]*/i, '');
  return {
    message: {
      method,
      targetUri: config.issuer + path,
      requestTarget: path,
      lines: (name) => lines(rawHeaders, name),
    },
    hasToken: headers.authorization !== undefined,
    contentDigest: (name) => hash(name, content, 'buffer'),
    fromProxy,
  };
}

/** The options for verifying a proof at this server, where each request is accepted once. */
export const proofOptions = ({
  stores,
  clock,
}: Pick<GnapServer, 'stores' | 'clock'>): ProveOptions => ({
  replay: stores.replay,
  now: epochSeconds(clock),
  once: true,
});

/**
 * Throws `GnapError` unless the client has proved its key (RFC 9635 section 7.3). After the proof the client pays the
 * price, and only then the request is remembered.
 */
export async function demandProof(
  server: Pick<GnapServer, 'config' | 'stores' | 'clock'>,
  received: Received,
  key: GnapKey,
  price: Price = { buckets: [] },
): Promise<void> {
  const replay = paidReplay(server, price);
  try {
    await prove(provedRequest(server, received), key, { ...proofOptions(server), replay });
  } catch (error) {
    if (error instanceof BadSignature) {
      throw new GnapError('invalid_client', `key proof: ${error.message}`);
    }
    throw error;
  }
  // A certificate proves each request anew, so no request is remembered.
  if (key.proof === 'mtls') await pay(server, price);
}
