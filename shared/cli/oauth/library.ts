import {
  allowInsecureRequests,
  type CustomFetchOptions,
  customFetch,
  type ProtectedResourceRequestBody,
} from 'oauth4webapi';
import type { Reply, Send } from '#shared/client/send.ts';
import { Failure } from '../arguments/command.ts';
import { jsonObject } from './http.ts';
import { Busy, OAuthFailure } from './oauth-failure.ts';

/** Statuses whose answers have no content (RFC 9110 section 6.4.1). */
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 205, 304]);

/** The last answer that oauth4webapi got, and the result of the library. */
interface Outcome<T> {
  readonly value: T;
  readonly reply: Reply;
  readonly url: string;
}

/**
 * Calls oauth4webapi, which sends requests by `send` with our limits of time and octets. The library may use http URLs,
 * since `parseSafeUrl` has checked each URL before. Throws `NoAnswer`, `Busy`, `OAuthFailure`, and `Failure` for an
 * answer that the library refuses.
 */
export async function throughLibrary<T>(
  send: Send,
  use: (options: ReturnType<typeof sendingBy>) => Promise<T>,
): Promise<Outcome<T>> {
  let last: { readonly reply: Reply; readonly url: string } | undefined;
  const options = sendingBy(async (message) => {
    last = undefined;
    const reply = await send(message);
    last = { reply, url: message.url };
    return reply;
  });
  try {
    const value = await use(options);
    if (last === undefined) throw new Error('the library has sent nothing');
    return { value, ...last };
  } catch (error) {
    throw last === undefined ? error : inWords(error, last.reply, last.url);
  }
}

function sendingBy(send: Send) {
  return {
    [allowInsecureRequests]: true,
    async [customFetch](
      url: string,
      { method, headers, body }: CustomFetchOptions<string, ProtectedResourceRequestBody>,
    ): Promise<Response> {
      const content = body instanceof URLSearchParams ? body.toString() : body;
      const isContent = typeof content === 'string' || Buffer.isBuffer(content);
      // User-Agent names this program (RFC 9110 section 10.1.5), not the library, since people see it on their account
      // page.
      const { 'user-agent': _, ...fields } = headers;
      const sent = { method, url, fields, ...(isContent && { body: content }) };
      const reply = await send(sent);
      return new Response(WITHOUT_CONTENT.has(reply.status) ? null : new Uint8Array(reply.body), {
        status: reply.status,
        headers: reply.fields,
      });
    },
  };
}

/** Explains an answer that the library refused. */
function inWords(error: unknown, reply: Reply, url: string): Failure {
  const { status } = reply;
  if (status === 429 || status >= 500) return new Busy(reply, url);
  if (status !== 200) return new OAuthFailure(reply, url);
  jsonObject(reply, url);
  return new Failure(`${url} gave an answer that cannot be used: ${(error as Error).message}`);
}
