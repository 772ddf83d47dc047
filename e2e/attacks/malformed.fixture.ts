/** Requests of each method with one mistake, and the status that its RFC names. */
import {
  ADDRESSES,
  CONDITIONS,
  depths,
  EXPECTATION,
  JOURNEYS,
  LARGE,
  MAX_FORWARDS,
  NAMES,
  NEEDLESS,
  READING,
  UNKNOWN,
  UNSAFE,
  UPLOADS,
  XML,
  xml,
} from './mistakes.fixture.ts';
import type { Mistake, Shape } from './mistakes.fixture.ts';

export interface Case {
  readonly method: string;
  /** The request without a mistake. The last test expects 2xx for it. */
  readonly right: Shape;
  readonly mistakes: readonly Mistake[];
}

/** The resources that the requests name. The tests create them and expect them unchanged. */
export interface Furniture {
  /** The token of the lock on `owned` with its angle brackets; `another` is the token of another lock. */
  readonly token: string;
  readonly another: string;
}

const LOCKINFO =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';
const PROPFIND = '<D:propfind xmlns:D="DAV:"><D:prop><D:getetag/></D:prop></D:propfind>';
const PROPERTYUPDATE =
  '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><a>1</a></D:prop></D:set></D:propertyupdate>';

const patched = (type: string, content: string): Shape => ({
  fields: { 'Content-Type': `application/${type}+json` },
  content,
});

export function cases({ token, another }: Furniture): readonly Case[] {
  return [
    {
      method: 'GET',
      right: { path: '/dav/doc' },
      mistakes: [
        ...READING,
        [416, 'a range after the end', { fields: { Range: 'bytes=1000-' } }],
        [416, 'a range of nothing', { fields: { Range: 'bytes=-0' } }],
        [400, 'two ranges', { fields: { Range: ['bytes=0-1', 'bytes=2-3'] } }],
      ],
    },
    { method: 'HEAD', right: { path: '/dav/doc' }, mistakes: READING },
    {
      method: 'OPTIONS',
      right: { path: '/dav/doc' },
      mistakes: [...ADDRESSES, ...NAMES, ...MAX_FORWARDS, EXPECTATION],
    },
    {
      method: 'TRACE',
      right: { path: '/traced/doc' },
      mistakes: [
        ...ADDRESSES,
        ...MAX_FORWARDS,
        ...NEEDLESS,
        [400, 'content', { content: 'x' }],
        [405, 'where it is off', { path: '/dav/doc' }],
        EXPECTATION,
      ],
    },
    {
      method: 'POST',
      right: { path: '/dav/col/', content: 'content' },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        ...UNSAFE,
        ...UPLOADS,
        [405, 'to a document', { path: '/dav/doc' }],
        [404, 'to nothing', { path: '/dav/nothing/' }],
        [423, 'into what is locked', { path: '/dav/closed/' }],
        EXPECTATION,
      ],
    },
    {
      method: 'PUT',
      right: { path: '/dav/doc', content: 'content' },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        ...UNSAFE,
        ...UPLOADS,
        [405, 'a collection', { path: '/dav/col/' }],
        [405, 'a collection without its slash', { path: '/dav/col' }],
        [405, 'the root', { path: '/dav/' }],
        [409, 'into nothing', { path: '/dav/nothing/x' }],
        [409, 'into a document', { path: '/dav/doc/x' }],
        [412, 'what is there, with If-None-Match: *', { fields: { 'If-None-Match': '*' } }],
        [423, 'what is locked', { path: '/dav/locked' }],
        [423, 'into what is locked', { path: '/dav/closed/x' }],
        EXPECTATION,
      ],
    },
    {
      method: 'PATCH',
      right: { path: '/dav/json', ...patched('merge-patch', '{"b":1}') },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        ...UNSAFE,
        ...UPLOADS,
        [415, 'no media type', { fields: { 'Content-Type': [] } }],
        [415, 'plain JSON', { fields: { 'Content-Type': 'application/json' } }],
        [400, 'nothing', patched('json-patch', '')],
        [400, 'no JSON', patched('json-patch', '[{]')],
        [400, 'no UTF-8', patched('json-patch', '["\xff"]')],
        [400, 'a name twice', patched('json-patch', '[{"op":"add","op":"remove","path":"/a"}]')],
        [400, 'no list', patched('json-patch', '{"op":"remove","path":"/a"}')],
        [400, 'no operation', patched('json-patch', '[1]')],
        [400, 'no path', patched('json-patch', '[{"op":"remove"}]')],
        [400, 'no pointer', patched('json-patch', '[{"op":"remove","path":"a"}]')],
        [400, 'no value', patched('json-patch', '[{"op":"add","path":"/b"}]')],
        [422, 'an unknown operation', patched('json-patch', '[{"op":"burn","path":"/a"}]')],
        [422, 'into itself', patched('json-patch', '[{"op":"move","from":"/a","path":"/a/b"}]')],
        [422, 'all of it', patched('json-patch', '[{"op":"remove","path":""}]')],
        [409, 'what is not there', patched('json-patch', '[{"op":"remove","path":"/b"}]')],
        [409, 'a test', patched('json-patch', '[{"op":"test","path":"/a","value":2}]')],
        [409, 'a prototype', patched('json-patch', '[{"op":"remove","path":"/__proto__"}]')],
        [422, 'too deep', patched('merge-patch', `${'['.repeat(5000)}${']'.repeat(5000)}`)],
        [405, 'a text', { path: '/dav/doc' }],
        [409, 'into nothing', { path: '/dav/nothing/x' }],
        [423, 'what is locked', { path: '/dav/locked.json' }],
        EXPECTATION,
      ],
    },
    {
      method: 'DELETE',
      right: { path: '/dav/doc3' },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        ...UNSAFE,
        ...NEEDLESS,
        ...depths(),
        [400, 'a collection alone', { path: '/dav/col/', fields: { Depth: '0' } }],
        [404, 'nothing', { path: '/dav/nothing' }],
        [404, 'a document as a collection', { path: '/dav/doc/' }],
        [405, 'the root', { path: '/dav/' }],
        [423, 'what is locked', { path: '/dav/locked' }],
        [423, 'from what is locked', { path: '/dav/closed/in' }],
        EXPECTATION,
      ],
    },
    {
      method: 'QUERY',
      right: {
        path: '/dav/json',
        fields: { 'Content-Type': 'application/jsonpath' },
        content: '$.a',
      },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        [400, 'RFC 10008 section 2.1: no media type', { fields: { 'Content-Type': [] } }],
        [400, 'half a media type', { fields: { 'Content-Type': 'jsonpath' } }],
        [400, 'two media types', { fields: { 'Content-Type': ['application/jsonpath', 'a/b'] } }],
        [415, 'SQL', { fields: { 'Content-Type': 'application/sql' } }],
        [415, 'another charset', { fields: { 'Content-Type': 'application/jsonpath;charset=x' } }],
        [415, 'a content coding', { fields: { 'Content-Encoding': 'gzip' } }],
        [422, 'no expression', { content: '' }],
        [422, 'no path', { content: 'a' }],
        [422, 'a path that never ends', { content: '$[?@.a == "' }],
        [400, 'no UTF-8', { content: '$["\xff"]' }],
        [422, 'a function that nobody knows', { content: '$[?burn(@)]' }],
        [406, 'an answer as a picture', { fields: { Accept: 'image/png' } }],
        [413, 'more than a query has, announced', { fields: { 'Content-Length': LARGE } }],
        [413, 'more than a query has', { content: `$${' '.repeat(70_000)}` }],
        [405, 'a text', { path: '/dav/doc' }],
        [404, 'of nothing', { path: '/dav/nothing' }],
        EXPECTATION,
      ],
    },
    {
      method: 'PROPFIND',
      right: { path: '/dav/doc', fields: { 'Content-Type': XML }, content: PROPFIND },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        ...depths(),
        ...xml(PROPFIND),
        [404, 'nothing', { path: '/dav/nothing' }],
        EXPECTATION,
      ],
    },
    {
      method: 'PROPPATCH',
      right: { path: '/dav/doc', fields: { 'Content-Type': XML }, content: PROPERTYUPDATE },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        ...UNSAFE,
        ...xml(PROPERTYUPDATE),
        [400, 'nothing to do', { content: '' }],
        [422, 'no property', { content: PROPERTYUPDATE.replace('<a>1</a>', '') }],
        [404, 'nothing', { path: '/dav/nothing' }],
        [423, 'what is locked', { path: '/dav/locked' }],
        EXPECTATION,
      ],
    },
    {
      method: 'MKCOL',
      right: { path: '/dav/new/' },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        ...UNSAFE,
        [415, 'content', { content: 'x' }],
        [415, 'RFC 5689', { fields: { 'Content-Type': XML }, content: PROPERTYUPDATE }],
        [405, 'a collection', { path: '/dav/col/' }],
        [405, 'a document', { path: '/dav/doc' }],
        [405, 'the root', { path: '/dav/' }],
        [409, 'into nothing', { path: '/dav/nothing/x/' }],
        [409, 'into a document', { path: '/dav/doc/x' }],
        [423, 'into what is locked', { path: '/dav/closed/x/' }],
        EXPECTATION,
      ],
    },
    {
      method: 'COPY',
      right: { path: '/dav/doc', fields: { Destination: '/dav/copy' } },
      mistakes: [...JOURNEYS, [403, 'to itself', { fields: { Destination: '/dav/doc' } }]],
    },
    {
      method: 'MOVE',
      right: { path: '/dav/doc4', fields: { Destination: '/dav/moved' } },
      mistakes: [
        ...JOURNEYS,
        [400, 'a collection alone', { path: '/dav/col/', fields: { Depth: '0' } }],
        [403, 'into itself', { path: '/dav/col/', fields: { Destination: '/dav/col/x' } }],
        [403, 'over what it is in', { path: '/dav/col/in', fields: { Destination: '/dav/col' } }],
        [405, 'the root', { path: '/dav/' }],
        [423, 'what is locked', { path: '/dav/locked' }],
        [423, 'from what is locked', { path: '/dav/closed/in' }],
      ],
    },
    {
      method: 'LOCK',
      right: { path: '/dav/doc', fields: { 'Content-Type': XML }, content: LOCKINFO },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        ...UNSAFE,
        ...depths('1'),
        ...xml(LOCKINFO),
        [422, 'no scope', { content: LOCKINFO.replace('<D:exclusive/>', '') }],
        [422, 'two scopes', { content: LOCKINFO.replace('<D:ex', '<D:shared/><D:ex') }],
        [422, 'a lock against reading', { content: LOCKINFO.replace('D:write', 'D:read') }],
        [
          413,
          'an owner of 5,000 bytes',
          {
            content: LOCKINFO.replace('</D:lockinfo>', `<D:owner>${'o'.repeat(5000)}</D:owner>$&`),
          },
        ],
        [400, 'nothing to refresh', { content: '' }],
        [412, 'what is not there to refresh', { content: '', fields: { If: `(${UNKNOWN})` } }],
        [
          412,
          'to refresh the lock of another resource',
          { content: '', fields: { If: `(${token})` } },
        ],
        [409, 'in nothing', { path: '/dav/nothing/x' }],
        [423, 'what is locked', { path: '/dav/locked' }],
        [423, 'in what is locked', { path: '/dav/closed/in' }],
        EXPECTATION,
      ],
    },
    {
      method: 'UNLOCK',
      right: { path: '/dav/owned', fields: { 'Lock-Token': token } },
      mistakes: [
        ...ADDRESSES,
        ...NAMES,
        ...CONDITIONS,
        ...UNSAFE,
        ...NEEDLESS,
        ...(
          [
            [400, 'no token', []],
            [400, 'two tokens', [token, token]],
            [400, 'a token with one bracket', token.slice(0, -1)],
            [400, 'an empty token', '<>'],
            [400, 'a token in brackets twice', `<${token}>`],
            [400, 'a token and more', `${token}x`],
            [400, 'a token that is no URI', '<x>'],
            [409, 'a token of nothing', UNKNOWN],
            [409, 'the token of another resource', another],
          ] as const
        ).map(([status, what, value]): Mistake => [
          status,
          what,
          { fields: { 'Lock-Token': value } },
        ]),
        [404, 'nothing', { path: '/dav/nothing' }],
        EXPECTATION,
      ],
    },
  ];
}
