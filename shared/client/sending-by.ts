import {
  allowInsecureRequests,
  type CustomFetchOptions,
  customFetch,
  type ProtectedResourceRequestBody,
} from 'oauth4webapi';
import type { Send } from './send.ts';

/** Statuses whose answers have no content (RFC 9110 section 6.4.1). */
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Returns the options with which oauth4webapi sends its requests by `send`, with our limits of time and octets. The
 * library may use http URLs, so the caller checks each URL before.
 */
export function sendingBy(send: Send) {
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
