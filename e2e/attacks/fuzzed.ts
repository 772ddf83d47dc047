/** Malformed HTTP/1.1 requests and HTTP/2 frames. The same seed makes the same input. */
import { frame, headersFrame } from '#shared/server/wire/http2-frames.fixture.ts';
import { type Dice, pick } from './dice.ts';

/** Octets that parsers often misread. */
const PIECES = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\0',
  ' ',
  '\t',
  ',',
  ';',
  ':',
  '"',
  '\\',
  '=',
  '%',
  '%00',
  '%2f',
  '../',
  '//',
  '?',
  '#',
  '*',
  '@',
  '[',
  ']',
  '<',
  '>',
  '{',
  '&#0;',
  '\x7f',
  '\xff',
  'é',
  '0',
  '-1',
  '9'.repeat(20),
  '0x10',
  '1e9',
  'a'.repeat(300),
  '()',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Host: b\r\n',
  'Expect: 100-continue\r\n',
  'Depth: x\r\n',
  'If: (<',
  'Range: bytes=5-1\r\n',
  'Destination: http://[\r\n',
  'Overwrite: \r\n',
] as [string, ...string[]];

const CONTENT: Readonly<Record<string, readonly [string, string]>> = {
  PUT: ['text/plain', 'hello'],
  POST: ['application/x-www-form-urlencoded', 'grant_type=client_credentials&scope=a'],
  PATCH: ['application/json-patch+json', '[{"op":"add","path":"/a/0","value":{"b":[1,null]}}]'],
  QUERY: ['application/jsonpath', "$..a[?match(@.b, '[a-z]+') && @.c > 1].d[0:5:2]"],
  PROPFIND: ['application/xml', '<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>'],
  PROPPATCH: ['application/xml', '<a:propertyupdate xmlns:a="DAV:"><a:set/></a:propertyupdate>'],
  LOCK: ['application/xml', '<l:lockinfo xmlns:l="DAV:"><l:lockscope/></l:lockinfo>'],
};
const METHODS = [
  'GET',
  'HEAD',
  'OPTIONS',
  'DELETE',
  'TRACE',
  'MKCOL',
  'COPY',
  'MOVE',
  'UNLOCK',
  'CONNECT',
  ...Object.keys(CONTENT),
] as [string, ...string[]];
const TARGETS = [
  '/documents/',
  '/documents/a',
  '/documents/a/b?limit=2',
  '/token',
  '/auth?client_id=a',
  '*',
  '/health/ready',
  '/jwks',
  '/dav/',
  '/device',
  '/.well-known/oauth-protected-resource',
] as [string, ...string[]];
const FIELDS = [
  'If-Match: "a", W/"b"',
  'If-None-Match: *',
  'Range: bytes=0-1, 3-',
  'Depth: infinity',
  'Destination: /documents/c',
  'If: <http://a/b> (<urn:uuid:1> ["e"]) (Not <x:y>)',
  'TE: trailers',
  'Accept: text/*;q=0.5, */*',
  'Cookie: a=b; c="d"',
  'Timeout: Second-5',
  'Lock-Token: <a:b>',
  'Authorization: Digest username="a", nc=00000001',
  'Authorization: Basic YTpi',
  'DPoP: a.b.c',
  'Origin: http://a',
  'Connection: keep-alive, x',
  'Forwarded: for=1',
  'Upgrade: h2c',
] as [string, ...string[]];

/** A slightly malformed request; half of the requests have `authorization`. One character is one octet. */
export function fuzzedRequest(roll: Dice, authorization: string): string {
  const method = pick(roll, METHODS);
  const [type, content] = CONTENT[method] ?? ['', ''];
  const lines = [`${method} ${pick(roll, TARGETS)} HTTP/1.1`, 'Host: localhost'];
  if (roll(2) === 0) lines.push(`Authorization: ${authorization}`);
  if (content !== '') lines.push(`Content-Type: ${type}`, `Content-Length: ${content.length}`);
  for (let more = roll(4); more > 0; more -= 1) lines.push(pick(roll, FIELDS));
  let text = `${lines.join('\r\n')}\r\n\r\n${content}`;
  for (let more = roll(3); more > 0; more -= 1) text = mutated(roll, text);
  return text;
}

function mutated(roll: Dice, text: string): string {
  const at = roll(text.length + 1);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (roll(6)) {
    case 0:
      return before + after.slice(1 + roll(8));
    case 1:
      return before + String.fromCharCode(roll(256)) + after.slice(1);
    case 2:
      return before + after.slice(0, roll(40)) + after;
    case 3:
      return roll(10) === 0 ? before : text;
    default:
      return before + pick(roll, PIECES) + after;
  }
}

const PSEUDO = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'localhost'],
  [':path', '/documents/'],
] as const;

/** One or two HTTP/2 frames: half of them open a stream properly, the other half are random. */
export function fuzzedFrames(roll: Dice): Buffer[] {
  const stream = pick(roll, [0, 1, 3, 5, 2, 0x7fff_ffff]) + 2 * roll(200);
  const noise = (most: number) => Buffer.from(Array.from({ length: roll(most) }, () => roll(256)));
  if (roll(2) === 0) return [frame(roll(14), roll(256), stream % 2 ** 31, noise(60))];
  const asked = PSEUDO.map(([name, value], index): [string, string] => [
    roll(20) === 0 ? pick(roll, [':method', ':path', 'host', 'te', 'X', ':b']) : name,
    index !== 3 ? value : pick(roll, TARGETS),
  ]);
  if (roll(4) === 0) asked.push(['content-length', pick(roll, ['0', '5', '-1', 'x'])]);
  const endStream = roll(2) === 0;
  const opened = headersFrame((stream % 2 ** 31) | 1, asked, { endStream });
  const content = frame(0, roll(2), (stream % 2 ** 31) | 1, noise(100));
  return endStream ? [opened] : [opened, content];
}
