import type { Context } from 'koa';
import { NoAnswer } from '#shared/client/send.ts';
import { interactionHash } from '#shared/gnap/interaction-hash.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { PagesServer } from '../../base/server.ts';
import type { PendingGrant } from '../../gnap/records.ts';

type Finish = NonNullable<PendingGrant['finish']>;

/** Returns the two values that tell a client of the decision: hash and interaction reference (RFC 9635 section 4.2). */
export function finished(issuer: string, { hashMethod, ...nonces }: Finish, interactRef: string) {
  const interaction = { ...nonces, interactRef, grantEndpoint: `${issuer}/gnap` };
  return { hash: interactionHash(interaction, hashMethod), interact_ref: interactRef };
}

/** Returns the client's URI to which the browser returns (section 4.2.1). */
export function withQuery({ uri }: Finish, news: ReturnType<typeof finished>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(news)) url.searchParams.set(name, value);
  return url.href;
}

/**
 * Notifies the client by a push (section 4.2.2). The decision is stored already. If the push fails, the client has to
 * poll.
 */
export async function push(
  server: Pick<PagesServer, 'sendPush'>,
  ctx: Context,
  { uri }: Finish,
  news: object,
): Promise<void> {
  const fields = { 'content-type': 'application/json' };
  const message = { method: 'POST', url: uri, fields, body: JSON.stringify(news) };
  try {
    const { status } = await server.sendPush(message);
    if (status >= 300) note(ctx.req, { reason: `push: ${new URL(uri).origin} answers ${status}` });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    note(ctx.req, { reason: `push: ${error.message}` });
  }
}
