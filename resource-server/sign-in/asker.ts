import { listMembers } from '#shared/http/fields.ts';
import type { AuthRequest } from '#shared/auth/scheme.ts';

/**
 * Who waits for an answer: a person who goes to a page (`navigation`), or who has sent a form to one (`form`), or a
 * program, which can do nothing with a page: a script, an image, an API client, a browser that looks ahead.
 */
export type Asker = 'navigation' | 'form' | 'program';

type Asked = Pick<AuthRequest, 'method' | 'lines' | 'handshake'>;

/** Fetch Metadata, sections 2.1 and 2.2: browsers that say it say so of every navigation of a whole tab. */
const OF_NAVIGATIONS: Readonly<Record<string, string>> = {
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

export function askerOf(request: Asked): Asker {
  const { method, lines, handshake } = request;
  const accepts = lines('accept')
    .flatMap((line) => listMembers(line))
    .some((range) => /^text\/html[ \t]*(?:;|$)/i.test(range));
  const other = Object.entries(OF_NAVIGATIONS).some(([name, value]) =>
    lines(name).some((line) => line !== value),
  );
  // Sec-Purpose: it is fetched ahead, and nobody may ever see it.
  if (!accepts || other || handshake || lines('sec-purpose').length > 0) return 'program';
  return method === 'GET' || method === 'HEAD' ? 'navigation' : 'form';
}
