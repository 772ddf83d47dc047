import { notesIn, type Notes } from '#shared/explain/note.ts';

const http = notesIn('RFC 9110');
const webdav = notesIn('RFC 4918');

/** Notes on Location by the status of the answer. */
export const LOCATIONS: Notes = {
  200: {
    text: 'The address at which GET asks the same question again.',
    section: 'RFC 10008 section 2.4',
  },
  201: http('The address of the new resource.', '15.3.2'),
  303: http('The address to which the browser is sent.', '15.4.4'),
};

/** Notes on the fields of requests for documents, by name in lower case. */
export const DOCUMENT_FIELDS: Notes = {
  etag: http('The version of the document. Each change gives the document another ETag.', '8.8.3'),
  'last-modified': http('The time of the last change, in whole seconds.', '8.8.2'),
  'if-match': http(
    'The server performs the request only if the document has this version. Otherwise the answer is 412.',
    '13.1.1',
  ),
  'if-none-match': http(
    'The server performs the request only if the document has another version; with `*`, only if there is no document. Otherwise the answer is 412, or 304 to a GET.',
    '13.1.2',
  ),
  'if-range': http(
    'The server sends the range only if the document still has this version. Otherwise it sends the whole document.',
    '13.1.5',
  ),
  range: http(
    'The part that the client asks for. The first octet has the number 0. The last octet of the range is included.',
    '14.2',
  ),
  'content-range': http(
    'The part that the answer has, and after the slash the length of the whole document.',
    '14.4',
  ),
  'accept-ranges': http('The client may ask for ranges of octets.', '14.3'),
  location: http('The address to which the answer leads.', '10.2.2'),
  'content-location': http('The address of exactly this content, as it is now.', '8.7'),
  'accept-patch': {
    text: 'The formats of patches that this address accepts.',
    section: 'RFC 5789 section 3.1',
  },
  'accept-query': {
    text: 'The languages in which this address accepts questions.',
    section: 'RFC 10008 section 3',
  },
  prefer: {
    text: 'A wish of the client. `return=representation`: send the new document in the answer. `wait=0`: answer without waiting.',
    section: 'RFC 7240 section 4',
  },
  'preference-applied': {
    text: 'The preference that the server has followed.',
    section: 'RFC 7240 section 3',
  },
  dav: webdav('The classes of WebDAV that this address supports: class 2 has locks.', '10.1'),
  'ms-author-via': {
    text: 'Tells Microsoft programs that they can write with WebDAV.',
    section: 'no standard',
  },
  depth: webdav('The lock is only for this address.', '10.2'),
  if: webdav(
    'The token of the lock that the client holds. Without it the answer to a change is 423.',
    '10.4',
  ),
  'lock-token': webdav(
    'The name of the lock. The client sends it with each change, and to remove the lock.',
    '10.5',
  ),
  timeout: webdav('How long the lock lasts, unless it is renewed.', '10.7'),
};
