/** Mistakes that several methods share, with the status that the RFC names. */

/**
 * Several values become several field lines. A test may replace a field, but not remove one that the method
 * needs.
 */
export type Lines = Readonly<Record<string, string | readonly string[]>>;

export interface Shape {
  readonly path?: string;
  readonly fields?: Lines;
  readonly content?: string;
}

/** The status, the name of the mistake, and how the request differs from a valid request. */
export type Mistake = readonly [status: number, what: string, shape: Shape];

const NAME = 'n'.repeat(256);
export const UNKNOWN = '<urn:uuid:00000000-0000-4000-8000-000000000000>';

/** Mistakes for any method at any address (RFC 9110 sections 4.2, 5.3, 11.6.2, RFC 3986 section 3.3). */
export const ADDRESSES: readonly Mistake[] = [
  [400, 'a dot segment', { path: '/dav/a/%2e%2e/doc' }],
  [400, 'an encoded slash', { path: '/dav/col%2Fin' }],
  [400, 'an encoded backslash', { path: '/dav/col%5Cin' }],
  [400, 'NUL', { path: '/dav/doc%00' }],
  [400, 'half an escape', { path: '/dav/doc%2' }],
  [400, 'an overlong encoding of a dot', { path: '/dav/%C0%AE%C0%AE/doc' }],
  [400, 'half a surrogate pair', { path: '/dav/%ED%A0%80' }],
  [400, 'an empty segment first', { path: '//dav/doc' }],
  [400, 'credentials and those of an application', { fields: { 'X-API-Key': 'x' } }],
  [400, 'a field that CGI takes for another', { fields: { Content_Length: '1' } }],
];

/** Mistakes for methods that look up a resource. */
export const NAMES: readonly Mistake[] = [
  [414, 'RFC 9110 section 15.5.15: a name of 256 bytes', { path: `/dav/${NAME}` }],
  [414, 'a path of over 1,024 bytes', { path: `/dav${'/0123456789abcdef'.repeat(61)}` }],
];

/** Mistakes for methods with conditions (RFC 9110 section 13, RFC 4918 section 10.4). */
export const CONDITIONS: readonly Mistake[] = [
  [412, 'If-Match without quotes', { fields: { 'If-Match': 'abc' } }],
  [412, 'If-Match that never ends', { fields: { 'If-Match': '"abc' } }],
  [412, 'If-Match of another state', { fields: { 'If-Match': '"abc"' } }],
  [400, 'If without a list', { fields: { If: UNKNOWN } }],
  [400, 'If with an empty list', { fields: { If: '()' } }],
  [400, 'If that never ends', { fields: { If: `(${UNKNOWN}` } }],
  [400, 'If with tagged and untagged lists', { fields: { If: `(${UNKNOWN}) </dav/doc> (["a"])` } }],
  [400, 'two If', { fields: { If: [`(${UNKNOWN})`, '(Not <DAV:no-lock>)'] } }],
  [412, 'If with a lock that nobody has', { fields: { If: `(${UNKNOWN})` } }],
  [412, 'If with an entity tag of nothing', { fields: { If: '</dav/nothing> (["a"])' } }],
];

/** Mistakes for unsafe methods (RFC 9110 section 10.1.1, Fetch section 3.2). */
export const UNSAFE: readonly Mistake[] = [
  [403, 'a page elsewhere', { fields: { Origin: 'https://evil.example' } }],
  [403, 'a page of nobody', { fields: { Origin: 'null' } }],
];

export const EXPECTATION: Mistake = [
  417,
  'an expectation that nobody knows',
  { fields: { Expect: 'x' } },
];

export const LARGE = '5000000';

/** Mistakes for methods whose content has no meaning (RFC 9110 section 9.3.1). */
export const NEEDLESS: readonly Mistake[] = [
  [413, 'much content for nothing', { fields: { 'Content-Length': LARGE } }],
];

/** Mistakes for methods that store content (RFC 9110 sections 8.3, 8.4, 14.5 and 15.5.14). */
export const UPLOADS: readonly Mistake[] = [
  [400, 'a part of the content', { fields: { 'Content-Range': 'bytes 0-1/2' } }],
  [400, 'a part of nothing', { fields: { 'Content-Range': '' } }],
  [415, 'a content coding', { fields: { 'Content-Encoding': 'gzip' } }],
  [415, 'a coding that is none', { fields: { 'Content-Encoding': 'identity' } }],
  [400, 'two media types', { fields: { 'Content-Type': ['a/b', 'c/d'] } }],
  [400, 'a list of media types', { fields: { 'Content-Type': 'a/b, c/d' } }],
  [400, 'half a media type', { fields: { 'Content-Type': 'text' } }],
  [400, 'a media type that never ends', { fields: { 'Content-Type': 'a/b; c="d' } }],
  [400, 'a media type of 300 bytes', { fields: { 'Content-Type': `a/${'b'.repeat(300)}` } }],
  [413, 'more than a document has, announced', { fields: { 'Content-Length': LARGE } }],
  [413, 'more than a document has', { content: 'x'.repeat(2_000_001) }],
];

export const XML = 'application/xml';

/** Mistakes for methods that take XML; `right` is a valid content (RFC 4918 sections 8.2, 16 and 20.6). */
export const xml = (right: string): readonly Mistake[] => [
  [400, 'no XML', { content: 'x' }],
  [400, 'XML that never ends', { content: right.slice(0, -1) }],
  [400, 'two roots', { content: `${right}${right}` }],
  [400, 'a prefix of nothing', { content: right.replace(' xmlns:D="DAV:"', '') }],
  [400, 'a prefix without its end', { content: right.replaceAll('D:', 'D:D:') }],
  [400, 'entities that grow', { content: `<!DOCTYPE a [<!ENTITY b "bb">]>${right}` }],
  [403, 'an entity from outside', { content: `<!DOCTYPE a SYSTEM "file:///etc/passwd">${right}` }],
  [400, 'too many elements within one another', { content: '<a>'.repeat(1000) }],
  [400, 'bytes that are no UTF-8', { content: right.replace('</', '\xff</') }],
  [400, 'a character that XML has not', { content: right.replace('</', '&#0;</') }],
  [415, 'a charset that nobody knows', { fields: { 'Content-Type': `${XML}; charset=ebcdic` } }],
  [415, 'another charset inside', { content: `<?xml version="1.0" encoding="utf-7"?>${right}` }],
  [415, 'JSON', { fields: { 'Content-Type': 'application/json' } }],
  [400, 'two media types', { fields: { 'Content-Type': [XML, 'text/xml'] } }],
  [415, 'a content coding', { fields: { 'Content-Encoding': 'gzip' } }],
  [422, 'XML of something else', { content: '<a/>' }],
  [
    422,
    'the right names in no namespace',
    { content: right.replaceAll(/D:| xmlns:D="DAV:"/g, '') },
  ],
  [413, 'more than XML may have, announced', { fields: { 'Content-Length': LARGE } }],
  [413, 'more than XML may have', { content: `${right}${' '.repeat(1024 * 1024)}` }],
];

/** Mistakes in the Depth field (RFC 4918 section 10.2); `none`: further values that the method refuses. */
export const depths = (...none: readonly string[]): readonly Mistake[] => [
  ...['2', '-1', '0, 0', 'infinite', '', ...none].map((depth): Mistake => [
    400,
    `Depth: ${depth}`,
    { fields: { Depth: depth } },
  ]),
  [400, 'two Depths', { fields: { Depth: ['0', '0'] } }],
];

/** Mistakes in the Max-Forwards field (RFC 9110 section 7.6.2). */
export const MAX_FORWARDS: readonly Mistake[] = [
  ...['x', '-1', '1.5', '', '0x1', '1, 1', '9'.repeat(20)].map((hops): Mistake => [
    400,
    `Max-Forwards: ${hops}`,
    { fields: { 'Max-Forwards': hops } },
  ]),
  [400, 'two Max-Forwards', { fields: { 'Max-Forwards': ['1', '2'] } }],
];

export const READING: readonly Mistake[] = [
  ...ADDRESSES,
  ...NAMES,
  ...CONDITIONS,
  ...NEEDLESS,
  [404, 'nothing', { path: '/dav/nothing' }],
  [404, 'a document as a collection', { path: '/dav/doc/' }],
  [404, 'a query that nobody kept', { path: '/dav/json?equivalent=x' }],
  [404, 'a result that nobody kept', { path: '/dav/json?result=' }],
  [406, 'a listing as a picture', { path: '/dav/col/', fields: { Accept: 'image/png' } }],
  EXPECTATION,
];

/** Mistakes for COPY and MOVE (RFC 4918 sections 9.8, 9.9, 10.3 and 10.6). */
export const JOURNEYS: readonly Mistake[] = [
  ...ADDRESSES,
  ...NAMES,
  ...CONDITIONS,
  ...UNSAFE,
  ...depths(),
  [400, 'a collection with Depth: 1', { path: '/dav/col/', fields: { Depth: '1' } }],
  ...(
    [
      [400, 'no Destination', []],
      [400, 'two Destinations', ['/dav/x', '/dav/x']],
      [400, 'a relative Destination', 'x'],
      [400, 'a Destination with a query', '/dav/x?y'],
      [400, 'a Destination with a fragment', '/dav/x#y'],
      [400, 'a Destination with a dot segment', '/dav/../x'],
      [400, 'a Destination with an encoded one', '/dav/%2e%2e/x'],
      [400, 'a Destination with an encoded slash', '/dav/x%2Fy'],
      [400, 'a Destination that is no UTF-8', '/dav/%FF'],
      [400, 'a Destination in no ASCII', '/dav/\xe9'],
      [400, 'a Destination with a name of 256 bytes', `/dav/${NAME}`],
      [400, 'an asterisk', '*'],
      [502, 'another server', 'http://evil.example/dav/x'],
      [502, 'another scheme', 'https://127.0.0.1/dav/x'],
      [403, 'another space', '/shared/x'],
      [403, 'no space', '/x'],
      [409, 'a collection that is not there', '/dav/nothing/x'],
      [409, 'a document as a collection', '/dav/doc2/x'],
      [403, 'the root', '/dav/'],
      [423, 'what is locked', '/dav/locked'],
      [423, 'into what is locked', '/dav/closed/x'],
    ] as const
  ).map(([status, what, where]): Mistake => [status, what, { fields: { Destination: where } }]),
  [400, 'Overwrite that is neither T nor F', { fields: { Overwrite: 'yes' } }],
  [400, 'two Overwrites', { fields: { Overwrite: ['T', 'T'] } }],
  [
    412,
    'what is there, with Overwrite: F',
    { fields: { Destination: '/dav/doc2', Overwrite: 'F' } },
  ],
  [404, 'nothing', { path: '/dav/nothing' }],
  EXPECTATION,
];
