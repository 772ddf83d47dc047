import type { Note } from '#shared/explain/note.ts';
import { DOCUMENT_FIELDS, LOCATIONS } from './notes-on-documents.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on fields, by name in lower case. */
const FIELDS: Readonly<Record<string, Note>> = {
  ':method': note(
    'The method. HTTP/2 sends each part of the first line of HTTP/1.1 as a pseudo-field.',
    'RFC 9113 section 8.3.1',
  ),
  ':scheme': note('The scheme of the URL.', 'RFC 9113 section 8.3.1'),
  ':authority': note(
    'The host and port that the client asks, in place of Host.',
    'RFC 9113 section 8.3.1',
  ),
  ':path': note('The path and the query of the URL.', 'RFC 9113 section 8.3.1'),
  ':status': note('The status code.', 'RFC 9113 section 8.3.2'),
  host: note('The host and port that the client asks.', 'RFC 9110 section 7.2'),
  accept: note('The media types that the client reads; `*/*` is any.', 'RFC 9110 section 12.5.1'),
  connection: note('The connection ends after this answer.', 'RFC 9112 section 9.6'),
  'content-length': note('The length of the content, in bytes.', 'RFC 9110 section 8.6'),
  'content-type': note('The media type of the content.', 'RFC 9110 section 8.3'),
  date: note('When the answer was made.', 'RFC 9110 section 6.6.1'),
  authorization: note(
    'The credentials of the client: a scheme, and the values that this scheme needs.',
    'RFC 9110 section 11.6.2',
  ),
  'www-authenticate': note(
    'The challenge: a scheme that the server accepts, and the values that a client needs for this scheme.',
    'RFC 9110 section 11.6.1',
  ),
  'proxy-authenticate': note(
    'The challenge of a proxy. The server behind it has challenges of its own.',
    'RFC 9110 section 11.7.1',
  ),
  'proxy-authorization': note(
    'The credentials for the proxy, which does not pass them on.',
    'RFC 9110 section 11.7.2',
  ),
  'authentication-info': note(
    'The server’s message to a client that it has authenticated.',
    'RFC 9110 section 11.6.3',
  ),
  'cache-control': note(
    'The caches that may keep the answer, and for how long. `no-store`: no cache. `private`: only the cache of the client. `no-cache`: a cache asks the server again before each use. `max-age`: the time in seconds. A request with `only-if-cached` asks only for a stored answer.',
    'RFC 9111 section 5.2',
  ),
  age: note('The seconds since the application gave this answer.', 'RFC 9111 section 5.1'),
  'cache-status': note(
    'What each cache did. `hit`: the cache answered by itself. `fwd`: the cache asked the next server, for this reason. `ttl`: the seconds for which the answer stays fresh. `stored`: the cache keeps the answer.',
    'RFC 9211 section 2',
  ),
  via: note(
    'The servers between the client and the application, with their versions of HTTP.',
    'RFC 9110 section 7.6.3',
  ),
  ban: note(
    'The rule by which the cache removes answers. path is the part of the path after the path of the space; `*` matches any text.',
    'no standard',
  ),
  vary: note('The request fields on which the answer depends.', 'RFC 9110 section 12.5.5'),
  'x-request-id': note(
    'Identifies this request. With it operators find the log line of the request. Requests of the playground have no log line.',
    'no standard',
  ),
  'x-content-type-options': note(
    'A browser does not guess another media type.',
    'Fetch section 3.6',
  ),
  'x-frame-options': note('No page may show the answer in a frame.', 'HTML section 7.7'),
  'referrer-policy': note(
    'The browser does not tell the next server the address of this page, because the address contains the request.',
    'Referrer Policy section 4.1',
  ),
  'strict-transport-security': note(
    'From now on the client uses TLS at this host.',
    'RFC 6797 section 6.1',
  ),
  'content-security-policy': note(
    "What a browser may do with the answer. `default-src 'none'`: load nothing for it. `sandbox`: run nothing of it.",
    'CSP section 3.1',
  ),
  cookie: note('A value that the server gave the client to send back.', 'RFC 6265 section 4.2'),
  'set-cookie': note(
    'A value that the browser sends back at this path. `httponly`: scripts cannot read it. `samesite=lax`: from pages of other sites, the browser sends it only with a link to this server.',
    'RFC 6265 section 4.1',
  ),
  refresh: note('The browser goes to this address at once.', 'HTML section 7.4.6'),
  'content-language': note('The language of the content.', 'RFC 9110 section 8.5'),
  origin: note('The origin of the page that wants to send a request.', 'Fetch section 3.2'),
  'access-control-request-method': note(
    'The method that the page wants to use.',
    'Fetch section 3.3.2',
  ),
  'access-control-request-headers': note(
    'The fields that the page wants to send.',
    'Fetch section 3.3.2',
  ),
  'access-control-allow-origin': note(
    'The origin whose pages may send the request and read the answer.',
    'Fetch section 3.3.3',
  ),
  'access-control-allow-methods': note('The methods that pages may use.', 'Fetch section 3.3.3'),
  'access-control-allow-headers': note('The fields that pages may send.', 'Fetch section 3.3.3'),
  'access-control-expose-headers': note(
    'The fields of the answer that scripts of other origins may read.',
    'Fetch section 3.3.3',
  ),
  'access-control-max-age': note(
    'The seconds for which the browser need not ask again.',
    'Fetch section 3.3.3',
  ),
  'x-api-key': note(
    'The key: the word cs, an id, a secret and a checksum. The server keeps a hash of the secret.',
    'no standard',
  ),
  'ratelimit-policy': note(
    'How many requests (q) are allowed in how many seconds (w).',
    'draft-ietf-httpapi-ratelimit-headers-11 section 3',
  ),
  ratelimit: note(
    'How many requests are left (r), and for how many seconds (t).',
    'draft-ietf-httpapi-ratelimit-headers-11 section 4',
  ),
  dpop: note(
    'A JWT that the client has signed with its key. It proves the method (htm), the address without its query (htu), the hash of the token (ath) and the time (iat). It has an id that the server accepts once (jti) and, if the server asks for it, the nonce of the server. The public key is in jwk. Other fields and the content are not signed.',
    'RFC 9449 section 4.2',
  ),
  'signature-input': note(
    'The signed parts of the message, in order, the time of the signature (created) and the name of the key (keyid).',
    'RFC 9421 section 4.1',
  ),
  signature: note(
    'The signature of the client’s key over these parts: the method, the URL and the field with the token.',
    'RFC 9421 section 4.2',
  ),
  'dpop-nonce': note(
    'A value that the next proof has to contain, so that an attacker cannot make proofs in advance.',
    'RFC 9449 section 8',
  ),
  link: note(
    'An address that belongs to the answer. `rel` says its purpose: application servers send messages to the address with `urn:ietf:params:push`.',
    'RFC 8288 section 3',
  ),
  ttl: note(
    'The seconds for which the message may wait for the user agent.',
    'RFC 8030 section 5.2',
  ),
  'transfer-encoding': note(
    'The content comes in chunks, each behind its length in hexadecimal digits. The chunk of length 0 is the end.',
    'RFC 9112 section 7.1',
  ),
  'x-accel-buffering': note('Asks nginx to pass each event on at once.', 'no standard'),
  allow: note('The methods of this address.', 'RFC 9110 section 10.2.1'),
  'retry-after': note('When to try again, in seconds.', 'RFC 9110 section 10.2.3'),
};

/** Returns the note on a field of a message with this first line. Undefined: the field has no note. */
export function noteOn(name: string, first = ''): Note | undefined {
  const field = name.toLowerCase();
  const [, status = ''] = first.split(' ');
  const here = field === 'location' ? LOCATIONS[status] : undefined;
  return here ?? FIELDS[field] ?? DOCUMENT_FIELDS[field];
}
