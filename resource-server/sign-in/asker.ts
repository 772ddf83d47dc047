import { listMembers } from '#shared/http/fields.ts';
import type { AuthRequest } from '#shared/auth/scheme.ts';
import { prefersHtml } from '#shared/pages/prefers-html.ts';

/**
 * What waits for an answer: a browser that goes to a page (`navigation`), or that has sent a form to one (`form`); a
 * `reader`, which takes pages but is not known as a browser, such as lynx, w3m or a program in Java that set no
 * Accept; or a `program`, which can do nothing with a page: a script, an image, an API client, a browser that looks
 * ahead.
 */
export type Asker = 'navigation' | 'form' | 'reader' | 'program';

type Asked = Pick<AuthRequest, 'method' | 'lines' | 'handshake'>;

/** Fetch Metadata, sections 2.1 and 2.2: browsers that say it say so of every navigation of a whole tab. */
const OF_NAVIGATIONS: Readonly<Record<string, string>> = {
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

/** In clear text, or of older versions, browsers send no Fetch Metadata; their names begin so. */
const BROWSER = /^(?:Mozilla|Opera)\//;

/** Throws BadRequest for Accept that is malformed. */
export function askerOf(request: Asked): Asker {
  const { method, lines, handshake } = request;
  const accept = lines('accept').flatMap((line) => listMembers(line));
  const said = Object.entries(OF_NAVIGATIONS).flatMap(([name, value]) =>
    lines(name).map((line) => line === value),
  );
  // Sec-Purpose: it is fetched ahead, and nobody may ever see it.
  const unseen = handshake || lines('sec-purpose').length > 0 || said.includes(false);
  if (unseen || !prefersHtml(accept.join(', '))) return 'program';
  if (said.length === 0 && !BROWSER.test(lines('user-agent')[0] ?? '')) return 'reader';
  return method === 'GET' || method === 'HEAD' ? 'navigation' : 'form';
}
