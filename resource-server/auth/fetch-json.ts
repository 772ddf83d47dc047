import { jsonOf, openSend } from '#shared/client/send.ts';

const send = openSend();

/**
 * Fetches the JSON at a URL; resolves to undefined if it is not JSON. Rejects for any status but 200, for more
 * than 64 KiB, and after five seconds.
 */
export async function fetchJson(url: string): Promise<unknown> {
  const reply = await send({ method: 'GET', url, fields: { accept: 'application/json' } });
  if (reply.status === 200) return jsonOf(reply);
  throw new Error(`${url} answered ${reply.status}`);
}
