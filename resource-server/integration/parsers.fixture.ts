import { parseAuthExport } from '#shared/auth/schemes/concealed/auth-export.ts';
import { parseUserPass } from '#shared/auth/schemes/basic/basic.ts';
import { readProof } from '#shared/auth/schemes/concealed/credentials.ts';
import { parseDigestParams } from '#shared/auth/schemes/digest/params.ts';
import { parseRegistration } from '#shared/auth/schemes/hoba/registration.ts';
import { parseResult, unpadded } from '#shared/auth/schemes/hoba/result.ts';
import { readClientToken } from '#shared/auth/schemes/negotiate/spnego.ts';
import { decodeMessage } from '#shared/auth/schemes/scram/base64.ts';
import { parseClientFinal, parseClientFirst } from '#shared/auth/schemes/scram/messages.ts';
import { parseBan } from '#shared/http/ban-rule.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { parseExtValue } from '#shared/http/auth/ext-value.ts';
import { parseCookies, withoutCookies } from '#shared/http/cookies.ts';
import { parseHttpDate } from '#shared/http/date.ts';
import { listMembers } from '#shared/http/fields.ts';
import { clientAddress, trustedProxies } from '#shared/http/forwarded.ts';
import { isHost } from '#shared/http/host.ts';
import { parseCodedUrl, parseIf } from '#shared/http/if-field.ts';
import { evaluatePreconditions } from '#shared/http/preconditions.ts';
import { linksTo } from '#shared/http/link.ts';
import { preference, preferredReturn } from '#shared/http/prefer.ts';
import { preferredType } from '#shared/http/preferred-type.ts';
import { groupOf } from '#shared/http/spelling.ts';
import { type BareItem, parseDictionary, parseList } from '#shared/http/structured-fields.ts';
import { parsePassedTarget, parseTreeTarget } from '#shared/http/target.ts';
import { isHandshake } from '#shared/http/web-socket.ts';
import { createVapid } from '#shared/auth/schemes/vapid/vapid.ts';
import { systemClock } from '#shared/base/clock.ts';
import { messagesIn, tokensIn } from '#shared/explain/explain.ts';
import { jsonDepth } from '#shared/explain/json-depth.ts';
import { readPasted } from '#shared/explain/pasted.ts';
import { parseCompactJws } from '#shared/jose/compact-jws.ts';
import { normaliseTargetUri } from '#shared/jose/dpop-proof.ts';
import { parseApiKey } from '#shared/people/api-key.ts';
import { componentsOf } from '#shared/signatures/component.ts';
import { claimedSignature } from '#shared/signatures/verify.ts';
import { decodeBase64url } from '#shared/private-token/base64url.ts';
import { ambiguous } from '#shared/server/client-errors/ambiguity.ts';
import { EVERYBODY, preflight } from '#shared/server/endpoints/cors.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { pathOf } from '#shared/server/message/request-log.ts';
import { parseDirectives } from '../cache/rules/directives.ts';
import { queryDigest } from '../cache/rules/query-digest.ts';
import { nominate, normalised } from '../cache/rules/vary.ts';
import { onwardLines } from '../forwarding/fields.ts';
import { PathMap } from '../gateway/paths.ts';
import { withoutKeys } from '../gateway/gateway.ts';
import { parseAuthority } from '#shared/client/destinations/authority.ts';
import { parseProxyTarget } from '../proxy/target.ts';
import { messageFields } from '../push/message-fields.ts';
import { readingsOf } from '../space/readings.ts';
import { jsonPatch } from '../resources/json/json-patch.ts';
import { parseJson } from '../resources/json/parse.ts';
import { parsePointer } from '../resources/json/pointer.ts';
import { compileFilter } from '../resources/query/filter.ts';
import { compileJsonPath } from '../resources/query/jsonpath.ts';
import { isJson } from '../answers/media-type.ts';
import { parseRanges } from '../answers/range.ts';
import { timeoutOf } from '../resources/methods/lock.ts';
import { parseXml } from '../resources/webdav/xml-parser.ts';
import { askerOf } from '../sign-in/sign-in.ts';

/** Adversarial input: `unit` repeated many times, with optional text before and after it. */
export type Shape = readonly [unit: string, before?: string, after?: string];

/** Parses client input. It may throw, as it does when it refuses the input. */
export interface Parser {
  readonly parse: (text: string) => unknown;
  readonly shapes: readonly Shape[];
}

/** Separators, quotes and spaces in all combinations of the grammars of fields. */
const FIELD: readonly Shape[] = [
  [','],
  [';'],
  [' ', 'a', 'a'],
  ['\t', 'a=', ','],
  [' ', 'a;', '=b'],
  [' ', 'a=', 'b c'],
  [' ', 'return=', 'b c'],
  [' ', 'a;b', 'c'],
  [' ,', '', 'a'],
  ['a,'],
  ['a=b,'],
  ['a=b; ', '', '('],
  ['=', 'a', 'a'],
  ['"', 'a='],
  ['"a",'],
  [String.raw`\"`, 'a="'],
  [String.raw`"\\`],
  ['(', 'a='],
];

const TARGET: readonly Shape[] = [
  ['/', '/'],
  ['../', '/'],
  ['%41', '/'],
  ['%25', '/'],
  [';', '/'],
  ['. ', '/', 'a'],
  ['.', '/', 'a'],
  ['a=b&', '/?'],
  ['\\', '/'],
  [':', 'http://a'],
  ['a.', 'http://'],
];

const BASE64: readonly Shape[] = [['A'], ['='], ['=', 'A', 'A'], ['.'], ['A.'], ['-'], [':']];

const FORM: readonly Shape[] = [['&'], ['a=b&'], ['&a'], ['%41'], ['%'], ['+'], ['=', 'kid=', 'x']];

const field = (parse: Parser['parse'], ...more: readonly Shape[]): Parser => ({
  parse,
  shapes: [...FIELD, ...more],
});

/** `headers`: in the form of node:http. */
const requestWith = (rawHeaders: readonly string[], headers: Record<string, string> = {}) =>
  ({ rawHeaders, headers, method: 'GET', httpVersion: '1.1' }) as unknown as AnyRequest;

const proxies = trustedProxies(['127.0.0.0/8']);
const CURRENT = { etag: { weak: false, opaque: 'x' }, modified: 0 };
const names = new PathMap('/a/b', '/x', true);
const vapid = createVapid({ clock: systemClock });
const isOurs = (name: string) => name.startsWith('countersign-');
const of = (type: string) => (text: string) => parseCredentials(`${type} ${text}`);

/** Components that are each read in another way (RFC 9421 section 2). */
const COMPONENTS: readonly (readonly [name: string, params: [string, BareItem][]])[] = [
  ['priority', []],
  ['priority', [['bs', { type: 'boolean', value: true }]]],
  ['priority', [['sf', { type: 'boolean', value: true }]]],
  ['priority', [['key', { type: 'string', value: 'a' }]]],
  ['@query', []],
  ['@query-param', [['name', { type: 'string', value: 'a' }]]],
];

/** Every parser of client input needs a row here. */
export const PARSERS: Readonly<Record<string, Parser>> = {
  'Cookie, read': field((text) => parseCookies([text])),
  'Cookie, handed on': field((text) => withoutCookies(text, isOurs)),
  'a list': field((text) => listMembers([text])),
  'Accept, of a browser': field((text) =>
    askerOf({ method: 'GET', lines: (name: string) => (name === 'accept' ? [text] : []) }),
  ),
  'Accept, against the types of a listing': field((text) =>
    preferredType(text, ['application/json', 'text/html']),
  ),
  'Accept, in the key of a cache': field((text) => normalised('accept', [text])),
  'Accept-Language, in the key of a cache': field((text) => normalised('accept-language', [text])),
  Prefer: field((text) => preferredReturn(['Prefer', text])),
  'any preference': field((text) => preference(['Prefer', text], 'a')),
  Link: field(
    (text) => linksTo(['Link', text], 'a'),
    ['<'],
    ['<a>,'],
    [' ', '<a>;a', 'x'],
    [';a="', '<a>'],
  ),
  'fields of a push message': field(
    (text) => {
      for (const name of ['TTL', 'Topic', 'Urgency', 'Content-Type', 'Content-Encoding']) {
        try {
          messageFields([...(name === 'TTL' ? [] : ['TTL', '1']), name, text]);
        } catch {
          // A refused line is skipped, and the next line is read.
        }
      }
    },
    ['a/', 'a', 'b'],
    ['1'],
  ),
  'vapid, t and k': field((text) => vapid(`vapid t=${text}, k=${text}`, 'https://a', undefined)),
  'Cache-Control': field((text) => parseDirectives([text])),
  'Vary, against Connection': field((text) => nominate(['a, b, c'], ['Connection', text])),
  'Connection and Via': field((text) =>
    onwardLines(requestWith(['Connection', text, 'Via', text]), 'p', () => false),
  ),
  'Upgrade and Connection': field((text) =>
    isHandshake(requestWith(['Upgrade', text, 'Connection', text])),
  ),
  'Transfer-Encoding': field((text) =>
    ambiguous(requestWith(['Host', 'a'], { host: 'a', 'transfer-encoding': text })),
  ),
  Host: field(isHost, ...TARGET),
  'a header section': field(
    (text) => ambiguous(requestWith(text.split('\n'), { host: 'a' })),
    ['a\n'],
    ['Content_Length\n'],
  ),
  'X-Forwarded-For': field(
    (text) => clientAddress('127.0.0.1', [text], proxies),
    ['127.0.0.1,', '', '127.0.0.1'],
  ),
  'If-None-Match': field((text) =>
    evaluatePreconditions({ method: 'GET', ifNoneMatch: text }, CURRENT, 0),
  ),
  'If-Modified-Since': field((text) => parseHttpDate(text, 0)),
  If: field(
    parseIf,
    ['(<a:b>)'],
    ['</a>(["a"])'],
    ['<a:b> ', '('],
    ['Not<a:b>', '('],
    ['["a"]', '('],
    ['<a:'],
  ),
  'Lock-Token': field(parseCodedUrl, ['a', '<a:']),
  Timeout: field((text) => timeoutOf(requestWith(['Timeout', text]))),
  Range: field(
    (text) => parseRanges(text, 1e6),
    [',', 'bytes='],
    ['0-1,', 'bytes='],
    ['0', 'bytes='],
    ['1', 'bytes=0-'],
  ),
  'Content-Type': field(isJson, ['+json', 'a', 'x']),
  'Content-Type, in the key of a cache': field((text) =>
    queryDigest(Buffer.alloc(0), ['Content-Type', text]),
  ),
  'Content-Encoding, in the key of a cache': field((text) =>
    queryDigest(Buffer.alloc(0), ['Content-Encoding', text]),
  ),
  'Signature-Input and Signature': field(
    (text) => {
      const both = { 'signature-input': `sig=${text}`, signature: 'sig=:AA==:' };
      const lines = (name: string) => [both[name as keyof typeof both]];
      const message = { method: 'GET', targetUri: 'https://a/', requestTarget: '/', lines };
      const policy = { covered: [], tag: undefined, required: [], refused: [], window: 1 };
      return claimedSignature(message, policy, 0);
    },
    ['"a" ', '('],
    [';a', '()'],
    ['"@method";a ', '(', ');created=0'],
  ),
  'components that a signature covers': field(
    (text) => {
      const message = {
        method: 'GET',
        targetUri: `https://a/?${text}`,
        requestTarget: '/',
        lines: () => [text],
      };
      const valueOf = componentsOf(message);
      for (const [value, params] of COMPONENTS) {
        try {
          valueOf({ type: 'string', value, params: new Map(params) });
        } catch {
          // The message lacks this component, and the next component is read.
        }
      }
    },
    ...FORM,
  ),
  'a Dictionary (RFC 8941)': field(
    parseDictionary,
    ['a=1,'],
    ['a;', 'a;'],
    ['a ', 'a=(', ')'],
    [String.raw`\"`, 'a="'],
    ['A', 'a=:'],
  ),
  'a List (RFC 8941)': field(parseList, ['a,', '', 'a'], ['a;', 'a;'], ['a ', '(', ')']),
  'text to explain': field(readPasted, ['\n'], ['a\n', 'If: '], ['a: b\n'], ['; ', '', 'hit']),
  'output of curl': field(messagesIn, ['> GET / HTTP/1', '\n'], ['{"', '}* ', '\n'], ['> ', '\n']),
  'tokens in content': field(tokensIn, ['a=b.', '.&'], ['{"a":[', '"b.c.d",']),
  'depth of JSON': { parse: jsonDepth, shapes: [['['], ['"'], ['\\', '"'], ['{}'], ['"a",']] },
  Ban: field((text) => parseBan([text]), ['*', 'path="/', '"']),
  'Access-Control-Request-Headers': field((text) =>
    preflight(EVERYBODY, { headers: { origin: 'a', 'access-control-request-headers': text } }, [
      'GET',
    ]),
  ),
  credentials: field(parseCredentials),
  'parameters of credentials': field(of('X')),
  'parameters of SCRAM': field(of('SCRAM-SHA-256'), ['=', 'data='], ['a=b,', 'data=AA==,']),
  'parameters of PrivateToken': field(of('PrivateToken'), ['=', 'token=']),
  'challenges, by a client of ours': field(parseChallenges),
  'an extended value (RFC 8187)': field(parseExtValue, ['%41', "UTF-8''"], ["'", 'UTF-8']),
  'parameters of Concealed': field((text) =>
    readProof({
      scheme: 'concealed',
      rest: text,
      params: { k: text, a: text, v: text, p: text, s: '1' },
    }),
  ),
  'Concealed-Auth-Export': { parse: parseAuthExport, shapes: [...BASE64, ['=', ':A', 'A:']] },
  'parameters of Digest': field((text) =>
    parseDigestParams({
      username: text,
      realm: text,
      uri: text,
      nonce: text,
      response: text,
      qop: text,
      nc: text,
      cnonce: text,
    }),
  ),
  'the user-pass of Basic': {
    parse: (text) => parseUserPass(Buffer.from(text).toString('base64')),
    shapes: [[':'], ['a', 'a:'], ['\u0301', 'a:'], ['e\u0301', 'a:'], ['\0', 'a:']],
  },
  'base64 of Basic': { parse: parseUserPass, shapes: BASE64 },
  'base64 of SCRAM': { parse: decodeMessage, shapes: BASE64 },
  'the first message of SCRAM': {
    parse: parseClientFirst,
    shapes: [
      ['a', 'n,,n='],
      ['=2C', 'n,,n='],
      ['=', 'n,,n='],
      ['b=a,', 'n,,n=a,r=b,'],
      ['\u0301', 'n,,n='],
    ],
  },
  'the last message of SCRAM': {
    parse: parseClientFinal,
    shapes: [
      ['a', 'c=biws,r='],
      ['b=a,', 'c=biws,r=a,'],
      ['=', 'c=biws,r=a,p=', 'A'],
    ],
  },
  'the result of HOBA': { parse: parseResult, shapes: [...BASE64, ['A', 'a.a.a.', '!']] },
  'padding of HOBA': { parse: unpadded, shapes: BASE64 },
  'a registration of HOBA': {
    parse: (text) => parseRegistration('application/x-www-form-urlencoded', Buffer.from(text)),
    shapes: FORM,
  },
  'a token of Negotiate': {
    parse: (text) => readClientToken(Buffer.from(text, 'latin1')),
    shapes: [
      ['\x60'],
      ['\xa1\x80'],
      ['\x60\x80', '\xa1\x83\x01\0\0'],
      ['\x30\0', '\x60\x83\x01\0\0'],
    ],
  },
  'a PrivateToken': { parse: decodeBase64url, shapes: BASE64 },
  'an API key': { parse: parseApiKey, shapes: [...BASE64, ['_', 'cs_']] },
  'a JWT': { parse: parseCompactJws, shapes: BASE64 },
  'htu of DPoP': {
    parse: (text) => normaliseTargetUri(text),
    shapes: [...TARGET, ['%41', 'http://a/']],
  },
  'a target': { parse: parsePassedTarget, shapes: TARGET },
  'a target of documents': { parse: parseTreeTarget, shapes: TARGET },
  'the group of a target': { parse: groupOf, shapes: TARGET },
  'all readings of a target': { parse: readingsOf, shapes: TARGET },
  'a target, in the log': { parse: pathOf, shapes: TARGET },
  'a target, without an API key': {
    parse: (text) => withoutKeys('key', new Set(['key', 'other']))(text),
    shapes: [...TARGET, ['key&', '/?']],
  },
  'a target, for the application': { parse: (text) => names.onward(text), shapes: TARGET },
  'a target of a proxy': { parse: (text) => parseProxyTarget('GET', text), shapes: TARGET },
  'the target of a tunnel': { parse: parseAuthority, shapes: [...TARGET, ['a.'], ['['], [':']] },
  XML: {
    parse: parseXml,
    shapes: [
      ['<a>'],
      ['<a/>', '<a>', '</a>'],
      ['&amp;', '<a>', '</a>'],
      ['&', '<a>', '</a>'],
      [' b="c"', '<a'],
      ['a', '<a b="', '"/>'],
      ['a', '<'],
      [' ', '<a', '/>'],
      ['-', '<!--', '-->'],
      ['--', '<!--'],
      [']', '<a><![CDATA[', ']]></a>'],
      ['?', '<?a ', '?>'],
      ['<!DOCTYPE '],
      ['"', '<!DOCTYPE a '],
      ['\r', '<a>', '</a>'],
    ],
  },
  JSON: {
    parse: (text) => parseJson(Buffer.from(text)),
    shapes: [
      ['['],
      ['{"a":'],
      ['0,', '[', '0]'],
      [' ', '['],
      ['"",', '[', '""]'],
      [String.raw`\\`, '"', '"'],
      ['9'],
      ['9', '1e'],
    ],
  },
  'a JSON Pointer': { parse: parsePointer, shapes: [['/'], ['~0', '/'], ['~', '/'], ['/a']] },
  'a JSON Patch': {
    parse: (text) => jsonPatch(parseJson(Buffer.from(text)))(new Map()),
    shapes: [
      ['{"op":"add","path":"/a","value":0},', '[', '{}]'],
      ['/a', '[{"op":"remove","path":"', '"}]'],
    ],
  },
  'a form of QUERY': {
    parse: (text) => compileFilter(text)([{ a: 1 }, { a: 2 }]),
    shapes: [...FORM, ['a,', 'sort=', 'a'], [',', 'select=']],
  },
  JSONPath: {
    parse: compileJsonPath,
    shapes: [
      ['.a', '$'],
      ['..a', '$'],
      ['[0]', '$'],
      ['!', '$[?'],
      ['@.a==1&&', '$[?'],
      ["'", '$['],
      [' ', '$', 'a'],
    ],
  },
};
