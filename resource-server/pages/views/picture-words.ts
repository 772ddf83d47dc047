/** The fields that are named beside a message. */
const NAMED =
  /^(Authorization|WWW-Authenticate|DPoP|DPoP-Nonce|Authentication-Info|Signature|X-API-Key|RateLimit|Proxy-Authorization|Proxy-Authenticate|Allow|Location|ETag|If|If-Match|If-None-Match|If-Range|Range|Content-Range|Lock-Token|Ban|Cache-Status|Origin|Access-Control-Allow-Methods): (.+)$/gim;

/** The parameters that show a step of a scheme: in challenges, in credentials, and in Authentication-Info. */
const CHALLENGING = /(?<=[ ,])(nonce|sr|data|ks1|challenge)=/g;
const PROVING = /(?<=[ ,])(response|data|kc1|vkc|result|token)=/g;
const PROVEN = /(?<=^|[ ,])(rspauth|data|vks)=/g;

/** Returns the names of matching parameters in a value, in parentheses. */
function telling(value: string, names: RegExp): string {
  const found = [...value.matchAll(names)].map(([, name]) => name);
  return found.length > 0 ? ` (${found.join(', ')})` : '';
}

/** Names the scheme of each value, and the parameters of the step. */
const schemesWith =
  (names: RegExp) =>
  (values: readonly string[]): string =>
    `: ${values.map((value) => (value.split(' ', 1)[0] ?? '') + telling(value, names)).join(', ')}`;

/** Makes the words for the values of a field, by its name in lower case. For other fields only the name is shown. */
const SHOWN: Readonly<Record<string, (values: readonly string[]) => string>> = {
  authorization: schemesWith(PROVING),
  'www-authenticate': schemesWith(CHALLENGING),
  'proxy-authorization': schemesWith(PROVING),
  'proxy-authenticate': schemesWith(CHALLENGING),
  'authentication-info': ([value = '']) => telling(value, PROVEN),
  'cache-status': ([value = '']) => `: ${/; ?(hit|fwd)\b/.exec(value)?.[1] ?? ''}`,
};

/**
 * Returns the words for a message: the method or the status, and the important fields. `withPath`: the party has
 * several addresses.
 */
export function wordsOf(text: string, withPath: boolean): string {
  const [head = ''] = text.split('\n\n');
  const [method = '', next = ''] = head.startsWith(':') ? startOfList(head) : head.split(/[ \n]/);
  const [path = ''] = next.split('?');
  const request = withPath ? `${method} ${path}` : method;
  const said = method.startsWith('HTTP/') ? next : request;
  const fields = Map.groupBy(head.matchAll(NAMED), ([, name = '']) => name);
  const named = [...fields].map(([name, lines]) => {
    const values = lines.map(([, , value = '']) => value);
    return name + (SHOWN[name.toLowerCase()]?.(values) ?? '');
  });
  return [said, ...named].join(', ');
}

/** The first words of an HTTP/2 message, as HTTP/1.1 would have them, by its pseudo-fields (RFC 9113 section 8.3). */
function startOfList(head: string): readonly string[] {
  const of = (name: string) => new RegExp(`^:${name}: (\\S+)`, 'm').exec(head)?.[1] ?? '';
  return head.startsWith(':status') ? ['HTTP/2', of('status')] : [of('method'), of('path')];
}

/**
 * Returns the names of the parameters in Location that the browser brings to its address (RFC 6749 section 4.1.2).
 * Empty: none.
 */
export function broughtOn(answer: string): string {
  const [, query = ''] = /^Location: [^?\n]+\?(\S+)$/im.exec(answer) ?? [];
  return [...new URLSearchParams(query).keys()].join(', ');
}

/** True if a cache asked the next server for the answer (RFC 9211 section 2.2). */
export const isForwarded = (answer: string): boolean => /^Cache-Status: .*; ?fwd\b/im.test(answer);

/**
 * Splits words into lines of at most `longest` characters, if no word is longer. A field stays on one line if it fits.
 */
export function linesOf(words: string, longest: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  const parts = words
    .split(/(?<=,) /)
    .flatMap((part) => (part.length > longest ? part.split(' ') : part));
  for (const word of parts) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (line !== '' && joined.length > longest) {
      lines.push(line);
      line = word;
    } else line = joined;
  }
  return line === '' ? lines : [...lines, line];
}
