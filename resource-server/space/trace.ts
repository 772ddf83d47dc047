import { BadRequest } from '#shared/http/fields.ts';
import type { Answer } from '#shared/http/answer.ts';
import { isApiKeyLike } from '#shared/people/api-key.ts';
import { contentOf } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';

/**
 * Fields that TRACE must not repeat: a script may make another person's browser send them, or they contain URLs with a
 * query.
 */
const SECRET =
  /auth|cookie|key|dpop|concealed|token|secret|passw|credential|session|signature|cert|jwt|oidc|csrf|xsrf|referer|ur[il]$/i;

/**
 * Returns the request as received, without fields that are likely to be secret and those in `hidden` (RFC 9110 section
 * 9.3.8). The query is masked, since it may contain an API key. Rejects with BadRequest if there is content.
 */
export async function traceAnswer(
  request: AnyRequest,
  hidden: readonly string[] = [],
): Promise<Answer> {
  await refuseContent(request);
  return {
    status: 200,
    fields: {
      'Content-Type': 'message/http',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
    // Node:http reads the request as Latin-1, so this encoding returns the original bytes.
    body: Buffer.from(echo(request, hidden), 'latin1').toString(),
  };
}

async function refuseContent(request: AnyRequest): Promise<void> {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  const refusal = new BadRequest('TRACE has no content (RFC 9110 section 9.3.8).');
  if (coding !== undefined || Number(length) !== 0) throw refusal;
  // HTTP/2 need not announce content, and may end a stream with an empty frame (RFC 9113 section 8.1).
  for await (const chunk of contentOf(request)) if (chunk.length > 0) throw refusal;
}

/** Writes the request in the form of HTTP/1.1. Over HTTP/2 `:authority` becomes Host (RFC 9113 section 8.3.1). */
function echo(
  { url = '', httpVersion, rawHeaders }: AnyRequest,
  hidden: readonly string[],
): string {
  const names = new Set(hidden.map((name) => name.toLowerCase()));
  const text = [`TRACE ${url.replace(/\?.*/s, '?***')} HTTP/${httpVersion}`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [received = '', value = ''] = rawHeaders.slice(index, index + 2);
    const name = received === ':authority' ? 'Host' : received;
    if (name.startsWith(':') || SECRET.test(name) || names.has(name.toLowerCase())) continue;
    if (isApiKeyLike(value)) continue;
    text.push(`${name}: ${value}`);
  }
  return `${text.join('\r\n')}\r\n\r\n`;
}
