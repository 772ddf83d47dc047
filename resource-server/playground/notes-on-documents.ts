import { notesIn, type Notes } from '#shared/explain/note.ts';

const http = notesIn('RFC 9110');
const webdav = notesIn('RFC 4918');

/** Notes on Location by the status of the answer. */
export const LOCATIONS: Notes = {
  200: {
    text: 'The address at which GET asks the same question again.',
    section: 'RFC 10008 section 2.4',
  },
  201: http('The address of what was made.', '15.3.2'),
  303: http('The address to which the browser is sent.', '15.4.4'),
};

/** Notes on the fields of requests for documents, by name in lower case. */
export const DOCUMENT_FIELDS: Notes = {
  etag: http('The version of the document. Each change gives it another one.', '8.8.3'),
  'last-modified': http('When the document was changed, to a second.', '8.8.2'),
  'if-match': http(
    'Do it only if this is the version that is there. Otherwise the answer is 412.',
    '13.1.1',
  ),
  'if-none-match': http(
    'Do it only if another version is there than this one; with `*`, only if nothing is there. Otherwise the answer is 412; to GET it is 304.',
    '13.1.2',
  ),
  'if-range': http(
    'Send the range only if the document is still this version. Otherwise send the whole.',
    '13.1.5',
  ),
  range: http(
    'The part that the client asks for. Octets are counted from 0, and the last one belongs to it.',
    '14.2',
  ),
  'content-range': http(
    'The part that comes, and behind the slash the length of the whole.',
    '14.4',
  ),
  'accept-ranges': http('The client may ask for ranges of octets.', '14.3'),
  location: http('The address to which the answer leads.', '10.2.2'),
  'content-location': http('The address of exactly this content, as it is now.', '8.7'),
  'accept-patch': {
    text: 'The formats of patches that this address takes.',
    section: 'RFC 5789 section 3.1',
  },
  'accept-query': {
    text: 'The languages in which this address takes questions.',
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
  dav: webdav('The parts of WebDAV that this address knows: 2 is locks.', '10.1'),
  'ms-author-via': {
    text: 'Tells programs of Microsoft that they can write by WebDAV.',
    section: 'no standard',
  },
  depth: webdav('The lock is for this address alone.', '10.2'),
  if: webdav(
    'The token of the lock that the client holds. Without it the answer to a change is 423.',
    '10.4',
  ),
  'lock-token': webdav(
    'The name of the lock. The client shows it with each change, and to end the lock.',
    '10.5',
  ),
  timeout: webdav('How long the lock lasts, unless it is renewed.', '10.7'),
};
