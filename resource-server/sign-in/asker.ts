import { firstMembers } from '#shared/http/fields.ts';
import type { AuthRequest } from '#shared/auth/scheme.ts';
import { prefersHtml } from '#shared/pages/prefers-html.ts';

/**
 * The kind of client that waits for an answer: a browser that navigates to a page (`navigation`) or submits a form
 * (`form`); a `reader`, which accepts pages but is not known to be a browser, such as lynx, w3m or a Java program
 * with the default Accept; or a `program`, which cannot use a page: a script, an image, an API client, a browser's
 * prefetch.
 */
export type Asker = 'navigation' | 'form' | 'reader' | 'program';

type Asked = Pick<AuthRequest, 'method' | 'lines' | 'handshake'>;

/** Fetch Metadata sections 2.1 and 2.2: browsers that support it send these with every navigation of a whole tab. */
const OF_NAVIGATIONS: Readonly<Record<string, string>> = {
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

/** Browsers send no Fetch Metadata over plain HTTP or in older versions. Their User-Agent begins like this. */
const BROWSER = /^(?:Mozilla|Opera)\//;

/** Classifies the client of a request. Throws BadRequest if Accept is malformed. */
export function askerOf(request: Asked): Asker {
  const { method, lines, handshake } = request;
  const accept = firstMembers(lines('accept'));
  const said = Object.entries(OF_NAVIGATIONS).flatMap(([name, value]) =>
    lines(name).map((line) => line === value),
  );
  // Sec-Purpose marks a prefetch, which nobody may ever see.
  const unseen = handshake || lines('sec-purpose').length > 0 || said.includes(false);
  if (unseen || !prefersHtml(accept.join(', '))) return 'program';
  if (said.length === 0 && !BROWSER.test(lines('user-agent')[0] ?? '')) return 'reader';
  return method === 'GET' || method === 'HEAD' ? 'navigation' : 'form';
}
