import { DIRECTORY_TYPE } from '#shared/private-token/issuer-directory.ts';
import { jsonOf, type Reply, type Send } from '#shared/client/send.ts';

/** Limits of the freshness, in seconds. The default is for a directory without a lifetime. */
const MAX_AGE = { least: 1, most: 86_400, default: 300 };

export interface FetchedDirectory {
  /** The JSON. Undefined: the content is not JSON. */
  readonly document: unknown;
  /** Seconds for which the directory is fresh. */
  readonly maxAge: number;
}

/** Fetches the issuer directory at a URL (RFC 9578 section 4). Rejects if there is none. */
export async function fetchDirectory(send: Send, url: string): Promise<FetchedDirectory> {
  const reply = await send({ method: 'GET', url, fields: { accept: DIRECTORY_TYPE } });
  if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}`);
  const type = reply.fields['content-type']?.replace(/[ \t]*;.*/s, '').toLowerCase();
  if (type !== DIRECTORY_TYPE) throw new Error(`${url} answered with another media type`);
  return { document: jsonOf(reply), maxAge: freshness(reply) };
}

/** The freshness (RFC 9111 section 4.2): `max-age` minus the Age from caches. */
function freshness(reply: Reply): number {
  const control = reply.fields['cache-control'] ?? '';
  const said = [...control.matchAll(/(?<![\w-])(?:max-age="?(\d+)|no-cache|no-store)/gi)];
  const maxAge = Math.min(...said.map(([, seconds = 0]) => Number(seconds)));
  const age = Number(/^\d+$/.exec(reply.fields['age'] ?? '')?.[0] ?? 0);
  const left = said.length > 0 ? maxAge - age : MAX_AGE.default;
  return Math.min(Math.max(left, MAX_AGE.least), MAX_AGE.most);
}
