import { DIRECTORY_TYPE } from '#shared/private-token/issuer-directory.ts';
import { jsonOf, type Reply, type Send } from '#shared/client/send.ts';

/** Seconds; the default is for a directory that says nothing. */
const MAX_AGE = { least: 1, most: 86_400, default: 300 };

export interface FetchedDirectory {
  /** JSON of whatever form; undefined: it was none. */
  readonly document: unknown;
  /** Seconds for which it is fresh. */
  readonly maxAge: number;
}

/** The issuer directory behind a URL (RFC 9578 section 4). Rejects for anything else. */
export async function fetchDirectory(send: Send, url: string): Promise<FetchedDirectory> {
  const reply = await send({ method: 'GET', url, fields: { accept: DIRECTORY_TYPE } });
  if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}`);
  const type = reply.fields['content-type']?.replace(/[ \t]*;.*/s, '').toLowerCase();
  if (type !== DIRECTORY_TYPE) throw new Error(`${url} answered with another media type`);
  return { document: jsonOf(reply), maxAge: freshness(reply) };
}

/** RFC 9111 section 4.2: what `max-age` says, less the time that caches on the way have kept it. */
function freshness(reply: Reply): number {
  const control = reply.fields['cache-control'] ?? '';
  const said = [...control.matchAll(/(?<![\w-])(?:max-age="?(\d+)|no-cache|no-store)/gi)];
  const maxAge = Math.min(...said.map(([, seconds = 0]) => Number(seconds)));
  const age = Number(/^\d+$/.exec(reply.fields['age'] ?? '')?.[0] ?? 0);
  const left = said.length > 0 ? maxAge - age : MAX_AGE.default;
  return Math.min(Math.max(left, MAX_AGE.least), MAX_AGE.most);
}
