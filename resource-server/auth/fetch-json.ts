import { jsonOf, openSend } from '#shared/client/send.ts';

const send = openSend();

/**
 * The JSON behind a URL; undefined when it is none. Rejects for any answer but 200, for more than 64 KiB,
 * and when it takes over five seconds.
 */
export async function fetchJson(url: string): Promise<unknown> {
  const reply = await send({ method: 'GET', url, fields: { accept: 'application/json' } });
  if (reply.status === 200) return jsonOf(reply);
  throw new Error(`${url} answered ${reply.status}`);
}
