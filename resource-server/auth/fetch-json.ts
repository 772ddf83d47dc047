import type { Hearing } from '#shared/auth/tokens/issuer-clock.ts';
import { jsonOf, openSend } from '#shared/client/send.ts';

const send = openSend();

/**
 * Fetches the JSON at a URL. Resolves to undefined if the content is not JSON. Rejects for any status but 200, for more
 * than 64 KiB, and after five seconds. `hear`: called with the answer.
 */
export async function fetchJson(url: string, hear?: Hearing): Promise<unknown> {
  const heard = hear?.();
  const reply = await send({ method: 'GET', url, fields: { accept: 'application/json' } });
  heard?.(reply.fields);
  if (reply.status === 200) return jsonOf(reply);
  throw new Error(`${url} answered ${reply.status}`);
}
