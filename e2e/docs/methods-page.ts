import { allow, CACHE_METHODS, type MethodPolicy, METHODS } from '#shared/http/methods.ts';
import { METHODS_OF } from '../../resource-server/resources/place/kinds.ts';
import { code, GENERATED, table } from './markdown.ts';

/** Methods that documents and collections do not have. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  OPTIONS: 'everywhere',
  TRACE: 'spaces with `trace`',
  CONNECT: 'the forward proxy',
  PRI: 'the connection preface of HTTP/2; no client or server uses it as a method',
  PURGE:
    'spaces with `cache.purge`; elsewhere 405, or 404 where nothing is, and 501 where no space has it',
  BAN: 'spaces with `cache.purge`; elsewhere 405, or 404 where nothing is, and 501 where no space has it',
};

/** The page of all methods, from the tables of both servers. */
export function methodsPage(): string {
  const named = [...METHODS].filter(
    ([method, { served }]) => served || method in ELSEWHERE || CACHE_METHODS.includes(method),
  );
  const others = [...METHODS.keys()].filter((method) => !named.some(([name]) => name === method));
  const registered = named.filter(([method]) => !CACHE_METHODS.includes(method));
  return [
    GENERATED,
    '# Methods',
    '',
    `This page lists the request methods that work here, with their properties and places: ${registered.length} of the 40 registered methods (RFC 9110 section 16.1), and PURGE and BAN. It is for authors of clients. [Documents](documents.md) says how conditions, PATCH, QUERY, listings and WebDAV behave.`,
    '',
    '`Allow`, 405, 501, `OPTIONS` and the answers of CORS follow from this table and from the resource at the address. Documents and collections take the same methods over HTTP/1.1 and HTTP/2.',
    '',
    ...table(
      ['Method', 'Safe', 'Idempotent', 'Cacheable', 'Where', 'Section'],
      named.map(([method, { safe, idempotent, cacheable, spec }]) => [
        method,
        yesNo(safe),
        yesNo(idempotent),
        CACHEABLE.get(cacheable) ?? '',
        whereOf(method),
        spec,
      ]),
    ),
    '',
    `A server behind [\`/verify\`](endpoints.md) may have other methods. ${others.map(code).join(' and ')} need the scopes for safe methods, all other methods the scopes for unsafe methods.`,
    '',
    '## What each kind of resource allows',
    '',
    'These are the values of `Allow` in a space that does not narrow them.',
    '',
    ...table(
      ['Resource', '`Allow`'],
      KINDS.map(([kind, name]) => [name, code(allow(METHODS_OF[kind]))]),
    ),
    '',
    '## Rules',
    '',
    '- `OPTIONS` with credentials names the methods that the resource takes now. Without credentials, a WebDAV space that hides nothing names each method that a resource at such an address could take. So the answer does not reveal what is there: it names `MKCOL` for a collection that exists, too.',
    '- A space may narrow the methods (`methods` in [the settings](settings.md#spaces)).',
    '- Any other token is a method too. It is 501, unless an application behind the gateway has it. The forward proxy passes on methods in upper case.',
    '- Fields that name another method, such as `X-HTTP-Method-Override`, are ignored.',
    "- Node's HTTP/1.1 parser does not know some methods (BAN, UPDATE, VERSION-CONTROL). Over HTTP/1.1 such a request must be the first on its connection, is also the last, and needs `Content-Length` if it has content. A client that keeps connections takes HTTP/2 or opens a new connection.",
    '- PURGE and BAN make the cache of a space forget answers. Both need the scope `cache:purge`, or what `scopes` of the space says for them.',
    '',
  ].join('\n');
}

const yesNo = (is: boolean) => (is ? 'yes' : 'no');

const CACHEABLE = new Map<MethodPolicy['cacheable'], string>([
  [true, 'yes'],
  [false, 'no'],
  ['conditional', 'with `Content-Location`'],
]);

const KINDS: readonly (readonly [keyof typeof METHODS_OF, string])[] = [
  ['root', 'the root of a tree'],
  ['collection', 'a collection'],
  ['document', 'a document'],
  ['json', 'a JSON document'],
  ['missing', 'a path where nothing is'],
  ['missingCollection', 'the same, with a slash at the end'],
  ['kept', 'a stored query, or its result'],
];

function whereOf(method: string): string {
  const { document, json, collection, missing, missingCollection } = METHODS_OF;
  const has = (methods: readonly string[]) => methods.includes(method);
  const places = [
    has(document) ? 'documents' : has(json) ? 'JSON documents' : '',
    has(collection) ? 'collections' : '',
    has(missing) || has(missingCollection) ? 'missing resources' : '',
  ].filter((place) => place !== '');
  return ELSEWHERE[method] ?? places.join(', ');
}
